# The table of errata on the host: scripts/errata puts it into docs/real-hardware.md.

$(O)/test/errata: tests/errata/main.c pmu/errata.c kernel/console/printf.c kernel/console/console.c \
		$(wildcard pmu/errata.h kernel/*.h) $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)gcc $(UNIT_CFLAGS) $(filter %.c,$^) -o $@

unit: $(O)/test/errata
