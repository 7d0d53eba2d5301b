package app_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts/exports"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/app/development"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/test/harness"
	"github.com/postrider/postrider/runtime/web/egress"
	"github.com/postrider/postrider/runtime/web/filelink"
)

// registry represents the rows of a mode as bits of a set, in the order of the registry.
type registry struct {
	mode  setting.Mode
	rows  []app.Module
	needs []uint // by row: the smallest legal set that contains it
}

func registryOf(mode setting.Mode) registry {
	r := registry{mode: mode}
	always := uint(0)
	for _, m := range app.Modules() {
		if m.Dev && mode != setting.Dev {
			continue
		}
		i := len(r.rows)
		if m.Always {
			always |= 1 << i
		}
		needs := always | 1<<i
		for _, needed := range m.Requires {
			needs |= r.needs[r.index(needed)]
		}
		r.rows, r.needs = append(r.rows, m), append(r.needs, needs)
	}
	return r
}

func (r registry) index(name string) int {
	return slices.IndexFunc(r.rows, func(m app.Module) bool { return m.Name == name })
}

func (r registry) all() uint { return 1<<len(r.rows) - 1 }

func (r registry) names(set uint) []string {
	var on []string
	for i, m := range r.rows {
		if set&(1<<i) != 0 {
			on = append(on, m.Name)
		}
	}
	return on
}

// legalSet returns the set with all that its modules require.
func (r registry) legalSet(set uint) uint {
	legal := r.needs[0]
	for i := range r.rows {
		if set&(1<<i) != 0 {
			legal |= r.needs[i]
		}
	}
	return legal
}

func (r registry) isLegal(set uint) bool { return set == r.legalSet(set) }

// join assembles a legal set.
func (r registry) join(t *testing.T, set uint, more ...fx.Option) app.Joined {
	t.Helper()
	chosen, err := app.Select(r.names(set), r.mode == setting.Dev)
	if err != nil {
		t.Fatalf("%v is legal but was rejected: %v", r.names(set), err)
	}
	joined, err := app.Join(r.mode, chosen, more...)
	if err != nil {
		t.Fatalf("%v cannot be assembled: %v", r.names(set), err)
	}
	return joined
}

// everything requests all parts that the foundation provides but few modules use, so that every set checks
// their dependencies: the parts of the runtime, and the groups that some modules read.
var everything = fx.Invoke(func(struct {
	fx.In

	Store       *store.Store
	Guard       *egress.Guard
	Resolver    *dnsx.Resolver
	ReturnPaths *returnpath.Signer
	FileLinks   *filelink.Links
	Transport   *smtpclient.Transport
	Objects     blob.Store
	Shutdowner  fx.Shutdowner
	Graph       fx.DotGraph
	Exports     *exports.Service
	Reach       development.OwnURL      `optional:"true"`
	Brief       webhooks.BriefURLPrefix `optional:"true"`
	Rewriter    *tracking.Rewriter      `optional:"true"`
	Kept        []module.PersonalData   `group:"kept"`
}) {
})

// Every legal set of modules can be assembled, without missing or duplicate parts and without cycles. There
// are tens of thousands of sets, and each new module more than doubles their number, so a few sets serve as
// a proof:
//
//   - The full set contains every other set. Two rows may add parts for each other, but three do not. So
//     a duplicate part or a cycle in any set would also be in the full set.
//   - A module's smallest set is the module with its requirements. There, and in the smallest sets of each
//     pair of modules, every constructor would run and every dependency is present. A legal set with the
//     module contains its smallest set, and therefore these dependencies.
//
// Some larger sets are assembled as well, as a check of this reasoning.
func TestEveryLegalModuleSetAssembles(t *testing.T) {
	t.Parallel()
	for _, mode := range []setting.Mode{setting.Dev, setting.Serve} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			r := registryOf(mode)
			given := parts{}
			for _, set := range r.smallSets() {
				joined := r.join(t, set, everything)
				for _, name := range joined.Unasked() {
					t.Errorf("in %v nothing requests %s, so its dependencies are not checked: request it in the test",
						r.names(set), name)
				}
				given.learn(set, joined.Given)
			}
			const seed = 20261125
			random := rand.New(rand.NewPCG(seed, seed))
			large := []uint{r.all()}
			for range 50 {
				large = append(large, r.legalSet(uint(random.Uint64())&r.all()))
			}
			for _, set := range large {
				if got, want := r.join(t, set).Given, given.knownParts(set); !maps.Equal(got, want) {
					t.Fatalf("%v provides other parts than its modules provide alone and in pairs: %s", r.names(set),
						difference(got, want))
				}
			}
		})
	}
}

// smallSets returns the smallest legal sets of each module and of each pair, each after the sets it
// contains.
func (r registry) smallSets() []uint {
	var sets []uint
	for _, a := range r.needs {
		for _, b := range r.needs {
			sets = append(sets, a|b)
		}
	}
	slices.SortFunc(sets, func(a, b uint) int {
		return cmp.Or(bits.OnesCount(a)-bits.OnesCount(b), cmp.Compare(a, b))
	})
	return slices.Compact(sets)
}

// parts records what sets provide beyond the known sets that they contain.
type parts map[uint]map[string]int

func (p parts) knownParts(set uint) map[string]int {
	sum := map[string]int{}
	for part, given := range p {
		if part&set == part {
			for name, n := range given {
				sum[name] += n
			}
		}
	}
	return sum
}

// learn records what the set provides beyond the known parts. Sets come after those they contain.
func (p parts) learn(set uint, given map[string]int) {
	own := map[string]int{}
	known := p.knownParts(set)
	for name, n := range given {
		if n != known[name] {
			own[name] = n - known[name]
		}
	}
	p[set] = own
}

func difference(got, want map[string]int) string {
	var all []string
	for name := range maps.Keys(got) {
		if got[name] != want[name] {
			all = append(all, fmt.Sprintf("%d of %s, want %d", got[name], name, want[name]))
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			all = append(all, fmt.Sprintf("no %s, want %d", name, want[name]))
		}
	}
	return strings.Join(all, "; ")
}

// Missing and duplicate parts are detected.
func TestMissingAndDuplicatePartsAreDetected(t *testing.T) {
	t.Parallel()
	r := registryOf(setting.Dev)
	sending, domains := r.index("sending"), r.index("domains")
	var lacking []app.Module
	for i, m := range r.rows {
		if r.needs[sending]&(1<<i) != 0 && i != domains {
			lacking = append(lacking, m)
		}
	}
	if _, err := app.Join(r.mode, lacking); err == nil || !strings.Contains(err.Error(), "domains.Service") {
		t.Errorf("assembling sending without domains gave %v, want an error that names the missing part", err)
	}
	if _, err := app.Join(r.mode, append(slices.Clone(r.rows), r.rows[domains])); err == nil ||
		!strings.Contains(err.Error(), "already provided") {
		t.Errorf("assembling domains twice gave %v, want an error about the duplicate", err)
	}
}

// A set that lacks a requirement of one of its modules is rejected with a sentence that names it; no other
// set is. Select checks for each row only whether it and its requirements are enabled, so each combination
// of these is tested, both with all and without any of the other modules, along with many random sets.
func TestIncompleteModuleSetsAreRejected(t *testing.T) {
	t.Parallel()
	for _, mode := range []setting.Mode{setting.Dev, setting.Serve} {
		r := registryOf(mode)
		var sets []uint
		for i, m := range r.rows {
			near := []int{i}
			mask := uint(1) << i
			for _, needed := range m.Requires {
				near = append(near, r.index(needed))
				mask |= 1 << r.index(needed)
			}
			for choice := range 1 << len(near) {
				var on uint
				for bit, module := range near {
					on |= uint(choice) >> bit & 1 << module
				}
				sets = append(sets, on, on|r.all()&^mask)
			}
		}
		const seed = 20261125
		random := rand.New(rand.NewPCG(seed, seed))
		for range 10_000 {
			set := uint(random.Uint64()) & r.all()
			sets = append(sets, set, r.legalSet(set))
		}
		legal, illegal := 0, 0
		for _, set := range sets {
			on := r.names(set)
			_, err := app.Select(on, mode == setting.Dev)
			missing := missingRequirements(r.rows, on)
			if (len(missing) == 0) != r.isLegal(set) {
				t.Fatalf("%v lacks %v, but the test considers it legal: %t", on, missing, r.isLegal(set))
			}
			if len(missing) == 0 {
				legal++
				if err != nil {
					t.Errorf("%v is legal but was rejected: %v", on, err)
				}
				continue
			}
			illegal++
			if err == nil {
				t.Errorf("%v lacks %v but was accepted", on, missing)
				continue
			}
			for _, name := range missing {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%v: the error does not name %s: %v", on, name, err)
				}
			}
		}
		if legal == 0 || illegal == 0 {
			t.Errorf("%d legal and %d illegal sets; want many of both", legal, illegal)
		}
	}
}

// missingRequirements uses only the table.
func missingRequirements(rows []app.Module, on []string) []string {
	var missing []string
	for _, m := range rows {
		if m.Always && !slices.Contains(on, m.Name) {
			missing = append(missing, m.Name)
		}
		if !slices.Contains(on, m.Name) {
			continue
		}
		for _, needed := range m.Requires {
			if !slices.Contains(on, needed) {
				missing = append(missing, needed)
			}
		}
	}
	return missing
}

// The smallest set of each module, and sets that cover each pair of modules in every legal combination of on
// and off, start and become ready.
func TestCoveringModuleSetsStart(t *testing.T) {
	t.Parallel()
	r := registryOf(setting.Dev)
	sets := append(r.coveringSets(), r.needs...)
	slices.Sort(sets)
	for _, set := range slices.Compact(sets) {
		on := strings.Join(r.names(set), ",")
		t.Run("starts "+on, func(t *testing.T) {
			t.Parallel()
			app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MODULES"] = on })
			harness.Eventually(t, "it is ready", func() bool {
				return app.Do(t, http.MethodGet, "/readyz", nil).
					Status == http.StatusOK
			})
		})
	}
}

// choice is a partial set: modules that are on and modules that are off. The others are undecided.
type choice struct{ on, off uint }

// choose switches the module on or off, along with its requirements or dependents. ok is false if that
// contradicts the choice.
func (c choice) choose(r registry, i int, on bool) (_ choice, ok bool) {
	if on {
		c.on |= r.needs[i]
	} else {
		for other, needs := range r.needs {
			if needs&(1<<i) != 0 {
				c.off |= 1 << other
			}
		}
	}
	return c, c.on&c.off == 0
}

// neighbours is a combination of states of two modules.
type neighbours struct {
	a, b     int
	onA, onB bool
}

// states returns the state of every pair that the choice decides.
func (c choice) states(r registry) []neighbours {
	var states []neighbours
	for a := range r.rows {
		for b := range a {
			if c.isDecided(a) && c.isDecided(b) {
				states = append(states, neighbours{a, b, c.on&(1<<a) != 0, c.on&(1<<b) != 0})
			}
		}
	}
	return states
}

func (c choice) isDecided(i int) bool { return (c.on|c.off)&(1<<i) != 0 }

// coveringSets returns a small number of legal sets that contain every state of two modules found in any
// legal set. The first is the full set.
func (r registry) coveringSets() []uint {
	open := map[neighbours]bool{}
	begin := choice{on: r.needs[0]}
	for a := range r.rows {
		for b := range a {
			for state := range 4 {
				n := neighbours{a, b, state&1 != 0, state&2 != 0}
				if _, ok := begin.decide(r, n); ok {
					open[n] = true
				}
			}
		}
	}
	news := func(c choice) int {
		n := 0
		for _, state := range c.states(r) {
			if open[state] {
				n++
			}
		}
		return n
	}
	var sets []uint
	for next := (choice{on: r.all()}); ; {
		for i := range r.rows {
			if next.isDecided(i) {
				continue
			}
			on, _ := next.choose(r, i, true)
			off, ok := next.choose(r, i, false)
			if next = on; ok && news(off) > news(on) {
				next = off
			}
		}
		sets = append(sets, next.on)
		for _, state := range next.states(r) {
			delete(open, state)
		}
		if len(open) == 0 {
			return sets
		}
		most := -1
		for _, state := range slices.SortedFunc(maps.Keys(open), neighbours.compare) {
			if c, _ := begin.decide(r, state); news(c) > most {
				most, next = news(c), c
			}
		}
	}
}

// decide decides the two modules as the state requires.
func (c choice) decide(r registry, n neighbours) (choice, bool) {
	c, okA := c.choose(r, n.a, n.onA)
	c, okB := c.choose(r, n.b, n.onB)
	return c, okA && okB
}

func (n neighbours) compare(o neighbours) int {
	return cmp.Or(n.a-o.a, n.b-o.b, strings.Compare(fmt.Sprint(n.onA, n.onB), fmt.Sprint(o.onA, o.onB)))
}
