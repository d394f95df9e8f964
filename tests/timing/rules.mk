# The loops of tests/t_timing.py, each a program.

TIMING_LOOPS := multiply independent bytes code forward moved flush flushcode branches walk down
TIMING_CHASES := 1 2 4 8
TIMING := $(TIMING_LOOPS:%=$(O)/test/timing/%.elf) $(TIMING_CHASES:%=$(O)/test/timing/chase%.elf) \
	$(O)/test/timing/apart2.elf

$(TIMING): $(O)/test/timing/%.elf: tests/timing/timing.S tests/guests/link.ld tests/guests/long.inc $(O)/flags.stamp
	$(call assemble,$(if $(filter chase% apart%,$*),-DCHASE=$(subst chase,,$(subst apart,,$*)),-DLOOP_$*) \
		-DBETWEEN=$(if $(filter apart%,$*),99,0))

unit: $(TIMING)
-include $(TIMING:=.d)
