# From the sources of the tests, which test says that it proves what (model/tests/proves.h): a line
#   PROOF("test_ledger", "leg1_entry_at_999_is_refused", "ACL-6 ", "E-ACL-18 ")
# for each test, or other function of a test program, that says so. A program is called after its
# file.
function flush_test() {
    if (clauses != "" || errata != "")
        printf "PROOF(\"%s\", \"%s\", \"%s\", \"%s\")\n", suite, test, clauses, errata
    clauses = errata = ""
}
# All ids in the arguments of a call, such as CLAUSE_ACL_6, as "ACL-6 ".
function ids(text, prefix, mark,    list) {
    while (match(text, prefix "_[A-Z]+_[0-9]+")) {
        name = substr(text, RSTART + length(prefix) + 1, RLENGTH - length(prefix) - 1)
        sub("_", "-", name)
        list = list mark name " "
        text = substr(text, RSTART + RLENGTH)
    }
    return list
}
FNR == 1 {
    flush_test()
    suite = FILENAME
    sub(".*/", "", suite)
    sub("[.]c$", "", suite)
    test = suite
}
/^Test\(/ {
    flush_test()
    test = $0
    sub("^Test\\([^,]*, *", "", test)
    sub("[,)].*", "", test)
}
/^(static )?[a-z].*\(.*[^;]$/ && !/^Test\(/ { # any other function
    flush_test()
    test = $0
    sub("\\(.*", "", test)
    sub(".*[ *]", "", test)
}
/(PROVES|SETTLES)\(/ || calling {
    call = calling ? call $0 : $0
    calling = call !~ /\)/
    if (!calling) {
        clauses = clauses (call ~ /PROVES\(/ ? ids(call, "CLAUSE", "") : "")
        errata = errata (call ~ /SETTLES\(/ ? ids(call, "ERRATUM", "E-") : "")
    }
}
END { flush_test() }
