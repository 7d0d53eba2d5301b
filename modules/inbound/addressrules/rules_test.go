package addressrules

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/fault"
)

func TestMatchPattern(t *testing.T) {
	t.Parallel()
	for pattern, texts := range map[string][2]string{
		"support": {"support", "supports xsupport s"}, "*": {"x *", ""}, "a*": {"a ab a.b", "ba"}, "*a": {"a ba", "ab"},
		"a*b*c": {"abc a.b.c aabbcc", "acb ab"},
		"*x*":   {"x axb", "ab"}, "a**b": {"ab a-b", "a"}, "a*a": {"aa aba", "a"},
	} {
		for text := range strings.FieldsSeq(texts[0]) {
			if !matchPattern(pattern, text) {
				t.Errorf("%s does not match %s", pattern, text)
			}
		}
		for text := range strings.FieldsSeq(texts[1]) {
			if matchPattern(pattern, text) {
				t.Errorf("%s matches %s", pattern, text)
			}
		}
	}
}

func TestFirstMatchingRuleDecides(t *testing.T) {
	t.Parallel()
	r := Rules{Rules: []shape.AddressRule{{Match: "old-*", Action: Reject}, {Match: "*-team", Action: Accept}}}
	for local, want := range map[string]bool{"old-team": false, "New-Team": true, "x": false, "postmaster": true,
		"PostMaster": true} {
		if r.HasAddress(local) != want {
			t.Errorf("the rules accept %s: %t, want %t", local, !want, want)
		}
	}
	r.CatchAll = true
	if !r.HasAddress("x") || r.HasAddress("old-x") {
		t.Error("catch_all")
	}
}

func TestInvalidRulesReportEveryField(t *testing.T) {
	t.Parallel()
	err := Rules{Rules: []shape.AddressRule{{Match: "", Action: "drop"}, {Match: "a@b", Action: Accept},
		{Match: "a\x00", Action: Reject}, {Match: strings.Repeat("x", 65), Action: Reject},
		{Match: "a b", Action: Reject}}}.Validate()
	for _, path := range []string{"rules[0].match", "rules[0].action", "rules[1].match", "rules[2].match",
		"rules[3].match", "rules[4].match"} {
		if fault.Classify(err).Fields[path] == "" {
			t.Errorf("%s is missing from the error: %v", path, err)
		}
	}
	if err := (Rules{Rules: make([]shape.AddressRule, MaxRules+1)}).Validate(); fault.Classify(err).Fields["rules"] == "" {
		t.Errorf("too many rules: %v, want an error", err)
	}
}
