package textmsg

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"github.com/postrider/postrider/runtime/base/expect"
)

// TestPlans compares plans.txt with the metadata of the library. After an update of the library, run it with -update.
func TestPlans(t *testing.T) {
	t.Parallel()
	expect.Golden(t, "../plans.txt", writePlans(t))
}

func writePlans(t *testing.T) string {
	t.Helper()
	all, err := phonenumbers.MetadataCollection()
	if err != nil {
		t.Fatal(err)
	}
	find := func(code int, region string) *phonenumbers.PhoneMetadata {
		for _, m := range all.GetMetadata() {
			if m.GetId() == region && int(m.GetCountryCode()) == code {
				return m
			}
		}
		t.Fatalf("no metadata for %d %s", code, region)
		return nil
	}
	var out strings.Builder
	out.WriteString("# Generated from the metadata of libphonenumber (Apache-2.0) by TestPlans -update. Each calling code has a line:\n" +
		"# code, lengths, local lengths, prefix, its replacement, numbers without a prefix. Below it are its countries\n" +
		"# and their numbers.\n")
	for _, code := range slices.Sorted(maps.Keys(phonenumbers.GetSupportedCallingCodes())) {
		regions := phonenumbers.GetRegionCodesForCountryCode(code)
		m := find(code, regions[0])
		prefix, valid := "", ""
		if p := m.GetNationalPrefixForParsing(); p != "" {
			prefix, valid = "^(?:"+p+")", "^(?:"+m.GetGeneralDesc().GetNationalNumberPattern()+")$"
		}
		lengths := m.GetGeneralDesc().GetPossibleLength()
		local := m.GetGeneralDesc().GetPossibleLengthLocalOnly()
		transform := m.GetNationalPrefixTransformRule()
		fmt.Fprintf(&out, "%d\t%s\t%s\t%s\t%s\t%s\n", code, join(lengths), join(local), prefix, transform, valid)
		for _, region := range regions {
			numbers := ""
			if len(regions) > 1 {
				numbers = numbersOf(find(code, region))
			}
			fmt.Fprintf(&out, "\t%s\t%s\n", region, numbers)
		}
	}
	return out.String()
}

func join(lengths []int32) string {
	texts := make([]string, len(lengths))
	for i, n := range lengths {
		texts[i] = strconv.Itoa(int(n))
	}
	return strings.Join(texts, ",")
}

// numbersOf returns a pattern for the national numbers of one of several countries with the same calling code.
func numbersOf(m *phonenumbers.PhoneMetadata) string {
	if m.GetLeadingDigits() != "" {
		return "^(?:" + m.GetLeadingDigits() + ")"
	}
	var patterns []string
	for _, desc := range []*phonenumbers.PhoneNumberDesc{m.GetPremiumRate(), m.GetTollFree(), m.GetSharedCost(), m.GetVoip(),
		m.GetPersonalNumber(), m.GetPager(), m.GetUan(), m.GetVoicemail(), m.GetFixedLine(), m.GetMobile()} {
		if p := desc.GetNationalNumberPattern(); p != "" && p != "NA" && !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	return "^(?:" + strings.Join(patterns, "|") + ")$"
}

// Numbers at random, and those similar to the examples of every country, are read as the library reads them.
func TestParseMatchesLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same numbers in every run
	digits := func(n int) string {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte('0' + random.IntN(10))
		}
		return string(out)
	}
	accepted := 0
	compare := func(text string) {
		got, err := Parse(text)
		want, wantErr := parseByLibrary(text)
		if got != want || !errors.Is(err, wantErr) {
			t.Errorf("Parse(%q) = %+v, %v; the library returns %+v, %v", text, got, err, want, wantErr)
		}
		if err == nil {
			accepted++
		}
	}
	for code := range phonenumbers.GetSupportedCallingCodes() {
		for range 100 {
			compare("+" + strconv.Itoa(code) + digits(4+random.IntN(9)))
		}
	}
	for region := range phonenumbers.GetSupportedRegions() {
		for kind := phonenumbers.FIXED_LINE; kind <= phonenumbers.VOICEMAIL; kind++ {
			example := phonenumbers.GetExampleNumberForType(region, kind)
			if example == nil {
				continue
			}
			text := phonenumbers.Format(example, phonenumbers.E164)
			compare(text)
			for range 5 {
				keep := len(text) - random.IntN(6)
				compare(text[:keep] + digits(len(text)-keep))
				compare(text[:keep] + digits(random.IntN(6)))
			}
		}
	}
	for range 5000 {
		compare("+" + digits(6+random.IntN(9)))
	}
	if accepted < 3000 {
		t.Errorf("%d numbers were accepted, want at least 3000", accepted)
	}
}

// parseByLibrary is Parse in terms of the library.
func parseByLibrary(text string) (Number, error) {
	if !form.MatchString(text) {
		return Number{}, errForm
	}
	parsed, err := phonenumbers.Parse(text, "ZZ")
	switch {
	case errors.Is(err, phonenumbers.ErrInvalidCountryCode):
		return Number{}, errCode
	case err != nil || !phonenumbers.IsPossibleNumber(parsed):
		return Number{}, errPossible
	case phonenumbers.Format(parsed, phonenumbers.E164) != text:
		return Number{}, errForm
	}
	region := phonenumbers.GetRegionCodeForNumber(parsed)
	if region == "" || region == "ZZ" {
		region = phonenumbers.GetRegionCodeForCountryCode(int(parsed.GetCountryCode()))
	}
	return Number{E164: text, Region: region}, nil
}

func TestRegionsMatchLibrary(t *testing.T) {
	t.Parallel()
	if want := slices.Sorted(maps.Keys(phonenumbers.GetSupportedRegions())); !slices.Equal(Regions(), want) {
		t.Errorf("the regions are %v, want %v", Regions(), want)
	}
}
