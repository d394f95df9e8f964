# What is on the text screen of a simulated machine.

SCREEN_OBJ := $(O)/tests/screen/main.c.o

$(SCREEN_OBJ): $(O)/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -MMD -MP -c $< -o $@
$(O)/test/screen: $(SCREEN_OBJ) $(LIBPMUSIM)
	@mkdir -p $(@D)
	$(call run_as,LD)$(CC) $^ $(SIM_LIBS) -o $@

unit: $(O)/test/screen
-include $(SCREEN_OBJ:.o=.d)
