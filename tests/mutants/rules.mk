# The mutants, tests/mutants/mutants.py: with what their files are compiled and of what each program is linked. The
# compiler's warnings say nothing here: a mutant may well leave a variable unused.

$(O)/mutants/programs: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'compile $(subst ','\'',$(CC) $(SIM_CFLAGS) -O1 -w)' \
		'pmusim $(CC) $(HOST_OBJ) $(SIM_OBJ) $(SIM_LIBS)' \
		'unit_model $(CC) $(MODEL_OBJ) $(SIM_OBJ) $(SIM_LIBS) -lcmocka' \
		'diff $(CC) $(DIFF_OBJ) $(SIM_OBJ) $(SIM_LIBS)' >$@

unit: $(O)/mutants/programs

.PHONY: mutants
mutants: ## break the simulator in every way that a test must notice (tests/mutants); ends with "N passed, N failed"
	@scripts/setup test
	$(call build,all $(O)/test/unit/unit_model $(O)/test/diff $(GUESTS) $(O)/mutants/programs)
	@ALL=1 $(PYTHON) tests/run.py t_mutations
