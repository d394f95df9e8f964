# The model's rules: sim/pmu driven through its interface, tests/model/rig.h.

MODEL_SRC := $(sort $(wildcard tests/model/*.c))
MODEL_OBJ := $(MODEL_SRC:%=$(O)/%.o)

$(MODEL_OBJ): $(O)/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -MMD -MP -c $< -o $@
$(O)/test/unit/unit_model: $(MODEL_OBJ) $(LIBPMUSIM)
	@mkdir -p $(@D)
	$(call run_as,LD)$(CC) $^ $(SIM_LIBS) -lcmocka -o $@

unit: $(O)/test/unit/unit_model
-include $(MODEL_OBJ:.o=.d)
