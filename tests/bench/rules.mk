# The programs of `make bench`: each loop with the counters off and on.

BENCH_LOOPS := alu memory branchy mixed
BENCHES := $(foreach loop,$(BENCH_LOOPS),$(O)/bench/$(loop).off.elf $(O)/bench/$(loop).on.elf) \
	$(O)/bench/console.off.elf
BENCH_DEFINES_alu := -DALU
BENCH_DEFINES_memory := -DMEMORY
BENCH_DEFINES_branchy := -DBRANCHY
BENCH_DEFINES_mixed := -DMIXED
BENCH_DEFINES_console := -DCONSOLE

$(BENCHES): $(O)/bench/%.elf: tests/bench/bench.S tests/guests/link.ld tests/guests/long.inc $(O)/flags.stamp
	$(call assemble,$(BENCH_DEFINES_$(basename $*)) $(if $(filter %.on,$*),-DCOUNTERS))

.PHONY: bench
bench: ## the simulator's speed: four loops, a whole run, the console
	@scripts/setup run
	$(call build,all $(BENCHES))
	@scripts/bench
