package lane

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ProviderLimits is the limits of a provider, per way.
type ProviderLimits struct {
	Provider    string
	Start       int           // initial connections of a lane
	Connections int           // maximum connections of a lane
	Messages    int           // over one connection
	Age         time.Duration // of one connection
	Rate        float64       // messages per minute; 0: unlimited
	suffixes    []string
}

// Profiles are the limits of all providers that are recognized by their mail hosts.
type Profiles struct {
	standard ProviderLimits
	byName   map[string]ProviderLimits
	bySuffix map[string]string // of a host name → provider
}

// standardProvider is the row for all other providers.
const standardProvider = "default"

//go:embed profiles.txt
var builtIn string

var parseBuiltIn = sync.OnceValue(func() *Profiles {
	p, err := parseProfiles(&Profiles{byName: map[string]ProviderLimits{}, bySuffix: map[string]string{}},
		strings.NewReader(builtIn))
	if err != nil {
		panic("lane: the built-in profiles: " + err.Error())
	}
	return p
})

// BuiltIn returns the built-in profiles.
func BuiltIn() *Profiles { return parseBuiltIn() }

// ownProfile returns the profile of an operator's own server.
func ownProfile(connections int) ProviderLimits {
	return ProviderLimits{Provider: "smarthost", Start: connections, Connections: connections, Messages: 100,
		Age: 10 * time.Minute}
}

// Find returns the profile of a set of mail hosts: that of the first host, in order, that belongs to a
// provider; the longest suffix wins.
func (p *Profiles) Find(hosts []string) ProviderLimits {
	for _, h := range hosts {
		for name := canonicalHost(h); name != ""; _, name, _ = strings.Cut(name, ".") {
			if provider, ok := p.bySuffix[name]; ok {
				return p.byName[provider]
			}
		}
	}
	return p.standard
}

// Extend reads rows that replace or extend those of p, in the format of the built-in file:
//
//	provider start connections messages age rate suffix…
//
// The error lists every mistake with its line.
func (p *Profiles) Extend(r io.Reader) (*Profiles, error) { return parseProfiles(p, r) }

func parseProfiles(base *Profiles, r io.Reader) (*Profiles, error) {
	result := &Profiles{byName: map[string]ProviderLimits{}, bySuffix: map[string]string{}}
	maps.Copy(result.byName, base.byName)
	rows := map[string]int{} // provider → line of this file
	var mistakes []error
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		row, wrong := parseRow(fields)
		if first, twice := rows[row.Provider]; twice {
			wrong = append(wrong, fmt.Errorf("provider %s is already in line %d", row.Provider, first))
		}
		for _, m := range wrong {
			mistakes = append(mistakes, fmt.Errorf("line %d: %w", n, m))
		}
		rows[row.Provider] = n
		result.byName[row.Provider] = row
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	mistakes = append(mistakes, result.indexRows(rows)...)
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	return result, nil
}

// indexRows indexes rows by suffix. A suffix in this file is removed from built-in rows; two rows of one file
// cannot share it.
func (p *Profiles) indexRows(rows map[string]int) (mistakes []error) {
	standard, ok := p.byName[standardProvider]
	if !ok {
		mistakes = append(mistakes, errors.New("there is no row for the provider "+standardProvider))
	}
	p.standard = standard
	for _, name := range slices.Sorted(maps.Keys(p.byName)) {
		for _, s := range p.byName[name].suffixes {
			other, taken := p.bySuffix[s]
			switch {
			case taken && rows[name] > 0 && rows[other] > 0:
				mistakes = append(mistakes, fmt.Errorf("line %d: %s is already in line %d",
					max(rows[name], rows[other]), s, min(rows[name], rows[other])))
			case !taken || rows[name] > 0:
				p.bySuffix[s] = name
			}
		}
	}
	return mistakes
}

func parseRow(fields []string) (row ProviderLimits, mistakes []error) {
	row.Provider = fields[0]
	if len(fields) < 6 {
		return row,
			[]error{fmt.Errorf("provider %s: want provider, start, connections, messages, age, rate and host suffixes",
				row.Provider)}
	}
	number := func(what, text string, most int) int {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			mistakes = append(mistakes, fmt.Errorf("%s %q is not a number from 1 to %d", what, text, most))
		}
		return n
	}
	row.Start = number("start", fields[1], 10_000)
	row.Connections = number("connections", fields[2], 10_000)
	row.Messages = number("messages", fields[3], 1_000_000)
	var err error
	if row.Age, err = time.ParseDuration(fields[4]); err != nil || row.Age < time.Second || row.Age > 24*time.Hour {
		mistakes = append(mistakes, fmt.Errorf("age %q is not a duration from 1s to 24h", fields[4]))
	}
	if fields[5] != "-" {
		row.Rate = float64(number("rate", fields[5], 1_000_000))
	}
	if row.Start > row.Connections {
		mistakes = append(mistakes, fmt.Errorf("start %d must be at most connections %d", row.Start, row.Connections))
	}
	for _, s := range fields[6:] {
		s = canonicalHost(strings.TrimPrefix(s, "."))
		if s == "" || strings.ContainsAny(s, "*/:@") {
			mistakes = append(mistakes, fmt.Errorf("%q is not a suffix of a host name", s))
			continue
		}
		row.suffixes = append(row.suffixes, s)
	}
	switch {
	case row.Provider == standardProvider && len(fields) > 6:
		mistakes = append(mistakes, errors.New("the row default has no suffixes"))
	case row.Provider != standardProvider && len(fields) == 6:
		mistakes = append(mistakes, fmt.Errorf("provider %s has no suffix of a host name", row.Provider))
	}
	return row, mistakes
}
