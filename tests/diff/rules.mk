# The differential test: pmusim's interpreter against the host's own processor (tests/diff/diff.h).

DIFF_SRC := $(sort $(wildcard tests/diff/*.c tests/diff/*.S))
DIFF_OBJ := $(DIFF_SRC:%=$(O)/%.o)

$(DIFF_OBJ): $(O)/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -MMD -MP -c $< -o $@
$(O)/test/diff: $(DIFF_OBJ) $(LIBPMUSIM)
	@mkdir -p $(@D)
	$(call run_as,LD)$(CC) $^ $(SIM_LIBS) -o $@

# Only an x86-64 host can be compared with.
ifeq ($(shell uname -m),x86_64)
unit: $(O)/test/diff
endif
-include $(DIFF_OBJ:.o=.d)
