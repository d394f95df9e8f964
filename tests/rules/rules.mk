# The PMU's rules: sim/pmu driven through its interface, tests/rules/rig.h.

RULES_SRC := $(sort $(wildcard tests/rules/*.c))
RULES_OBJ := $(RULES_SRC:%=$(O)/%.o)

$(RULES_OBJ): $(O)/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -MMD -MP -c $< -o $@
$(O)/test/unit/unit_rules: $(RULES_OBJ) $(filter-out $(O)/sim/main.c.o,$(SIM_OBJ)) $(O)/files.stamp
	@mkdir -p $(@D)
	$(call run_as,LD)$(CC) $(filter %.o,$^) $(SIM_LIBS) -lcmocka -o $@

unit: $(O)/test/unit/unit_rules
-include $(RULES_OBJ:.o=.d)
