# The model's branch records and debug store, driven like the PMU's rules (tests/rules/rig.h).

PMU_TEST_SRC := $(sort $(wildcard tests/pmu/*.c))
PMU_TEST_OBJ := $(PMU_TEST_SRC:%=$(O)/%.o)

$(PMU_TEST_OBJ): $(O)/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -MMD -MP -c $< -o $@
$(O)/test/unit/unit_pmu: $(PMU_TEST_OBJ) $(O)/tests/rules/rig.c.o $(filter-out $(O)/sim/main.c.o,$(SIM_OBJ)) \
		$(O)/files.stamp
	@mkdir -p $(@D)
	$(call run_as,LD)$(CC) $(filter %.o,$^) $(SIM_LIBS) -lcmocka -o $@

unit: $(O)/test/unit/unit_pmu
-include $(PMU_TEST_OBJ:.o=.d)
