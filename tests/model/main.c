/* The PMU's rules, docs/simulator.md "The PMU's rules": each test there is a function here. */
#include "tests/model/rig.h"

int main(void)
{
    return _cmocka_run_group_tests("enumeration", enumeration_tests, n_enumeration_tests, NULL,
                                   NULL) +
           _cmocka_run_group_tests("registers", register_tests, n_register_tests, NULL, NULL) +
           _cmocka_run_group_tests("counting", counting_tests, n_counting_tests, NULL, NULL) +
           _cmocka_run_group_tests("version6", version6_tests, n_version6_tests, NULL, NULL) +
           _cmocka_run_group_tests("reload", reload_tests, n_reload_tests, NULL, NULL) +
           _cmocka_run_group_tests("metrics", metrics_tests, n_metrics_tests, NULL, NULL) +
           _cmocka_run_group_tests("overflow", overflow_tests, n_overflow_tests, NULL, NULL) +
           _cmocka_run_group_tests("freeze", freeze_tests, n_freeze_tests, NULL, NULL) +
           _cmocka_run_group_tests("smm", smm_tests, n_smm_tests, NULL, NULL) +
           _cmocka_run_group_tests("lbr", lbr_tests, n_lbr_tests, NULL, NULL) +
           _cmocka_run_group_tests("lbr_arch", lbr_arch_tests, n_lbr_arch_tests, NULL, NULL) +
           _cmocka_run_group_tests("lbr_log", lbr_log_tests, n_lbr_log_tests, NULL, NULL) +
           _cmocka_run_group_tests("bts", bts_tests, n_bts_tests, NULL, NULL) +
           _cmocka_run_group_tests("pebs", pebs_tests, n_pebs_tests, NULL, NULL) +
           _cmocka_run_group_tests("amd", amd_tests, n_amd_tests, NULL, NULL) +
           _cmocka_run_group_tests("apic_extended", apic_extended_tests, n_apic_extended_tests,
                                   NULL, NULL) +
           _cmocka_run_group_tests("lbr_amd", lbr_amd_tests, n_lbr_amd_tests, NULL, NULL) +
           _cmocka_run_group_tests("ibs", ibs_tests, n_ibs_tests, NULL, NULL);
}
