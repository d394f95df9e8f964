# The library as a program uses it: sim/sim.h and libpmusim.a alone.

LIBRARY_OBJ := $(O)/tests/library/main.c.o

$(LIBRARY_OBJ): $(O)/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -MMD -MP -c $< -o $@
$(O)/test/library: $(LIBRARY_OBJ) $(LIBPMUSIM)
	@mkdir -p $(@D)
	$(call run_as,LD)$(CC) $^ $(SIM_LIBS) -o $@

unit: $(O)/test/library
-include $(LIBRARY_OBJ:.o=.d)
