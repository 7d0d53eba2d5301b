package textmsg

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// plansFile contains the rules of each calling code, from the metadata of libphonenumber. TestPlans writes it.
//
//go:embed plans.txt
var plansFile string

// plan contains the rules of one calling code.
type plan struct {
	lengths      []int // of national numbers
	localLengths []int // of numbers that can only be dialed within an area
	prefix       func() *regexp.Regexp
	transform    string                // replaces the prefix
	valid        func() *regexp.Regexp // national numbers from which no prefix may be removed; nil without a prefix
	regions      []planRegion          // the main country is the first
}

// planRegion is a country and the national numbers that belong to it, or nil if they all do.
type planRegion struct {
	code    string
	numbers func() *regexp.Regexp
}

// plans returns the rules by calling code.
var plans = sync.OnceValue(func() map[string]*plan {
	all := map[string]*plan{}
	var last *plan
	for line := range strings.Lines(plansFile) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case fields[0] != "":
			last = &plan{lengths: parseLengths(fields[1]), localLengths: parseLengths(fields[2]),
				prefix: compileLater(fields[3]), transform: fields[4], valid: compileLater(fields[5])}
			all[fields[0]] = last
		default:
			last.regions = append(last.regions, planRegion{fields[1], compileLater(fields[2])})
		}
	}
	return all
})

func parseLengths(text string) (lengths []int) {
	for field := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(field); err == nil {
			lengths = append(lengths, n)
		}
	}
	return lengths
}

// compileLater compiles a pattern when it is first used, because most calling codes never are.
func compileLater(pattern string) func() *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// findPlan splits the digits of an international number. No calling code is the beginning of another.
func findPlan(digits string) (p *plan, national string) {
	for n := 1; n <= min(3, len(digits)); n++ {
		if p := plans()[digits[:n]]; p != nil {
			return p, digits[n:]
		}
	}
	return nil, ""
}

// isPossible reports whether a national number has a length that is possible in its country.
func (p *plan) isPossible(national string) bool {
	return slices.Contains(p.lengths, len(national)) || slices.Contains(p.localLengths, len(national))
}

// withoutPrefix removes the prefix of calls within the country, such as 0, from a national number that has one.
func (p *plan) withoutPrefix(national string) string {
	if p.prefix == nil {
		return national
	}
	found := p.prefix().FindStringSubmatchIndex(national)
	if found == nil {
		return national
	}
	short := national[found[1]:]
	if p.transform != "" && found[len(found)-2] >= 0 {
		short = string(p.prefix().ExpandString(nil, p.transform, national, found)) + short
	}
	isValid := p.valid().MatchString
	isLong := len(short) > slices.Max(p.lengths)
	if isValid(national) && !isValid(short) || !slices.Contains(p.lengths, len(short)) && !isLong {
		return national
	}
	return short
}

// region returns the country of a national number, which is the main one for a range missing from the table.
func (p *plan) region(national string) string {
	for _, r := range p.regions {
		if r.numbers == nil || r.numbers().MatchString(national) {
			return r.code
		}
	}
	return p.regions[0].code
}
