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
)

// registry knows the rows of a mode as bits of a set, in the order of the registry.
type registry struct {
	mode  setting.Mode
	rows  []app.Module
	needs []uint // by row: the smallest legal set that holds it
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

// legal returns the set with all that its modules require.
func (r registry) legal(set uint) uint {
	legal := r.needs[0]
	for i := range r.rows {
		if set&(1<<i) != 0 {
			legal |= r.needs[i]
		}
	}
	return legal
}

func (r registry) isLegal(set uint) bool { return set == r.legal(set) }

// join joins a legal set.
func (r registry) join(t *testing.T, set uint, more ...fx.Option) app.Joined {
	t.Helper()
	chosen, err := app.Select(r.names(set), r.mode == setting.Dev)
	if err != nil {
		t.Fatalf("%v is legal and was refused: %v", r.names(set), err)
	}
	joined, err := app.Join(r.mode, chosen, more...)
	if err != nil {
		t.Fatalf("%v cannot be assembled: %v", r.names(set), err)
	}
	return joined
}

// everything asks for what the foundation gives and few modules take, so that its needs are seen
// in every set: the parts of the runtime, and the groups that some modules read.
var everything = fx.Invoke(func(struct {
	fx.In

	Store       *store.Store
	Guard       *egress.Guard
	Resolver    *dnsx.Resolver
	ReturnPaths *returnpath.Signer
	Transport   *smtpclient.Transport
	Objects     blob.Store
	Shutdowner  fx.Shutdowner
	Graph       fx.DotGraph
	Exports     *exports.Service
	Reach       development.Reach       `optional:"true"`
	Brief       webhooks.BriefURLPrefix `optional:"true"`
	Rewriter    *tracking.Rewriter      `optional:"true"`
	Kept        []module.PersonalData   `group:"kept"`
}) {
})

// Every legal set of modules can be joined, without a missing or a doubled part and without
// a circle. There are tens of thousands of sets, and more than twice as many with each
// module, so this is shown by few of them:
//
//   - The full set holds what any set does, and two rows give something more beside each
//     other, but three do not. So a doubled part or a circle in any set would be in the full one.
//   - A module's smallest set is the module with what it requires. There, and in the
//     smallest sets of two modules together, each constructor would run, and nothing that it
//     needs is missing. A legal set with the module holds its smallest set, and so
//     holds what these constructors need.
//
// Some larger sets are joined beside that, as a test of the reasoning.
func TestEveryLegalSetOfModulesIsAssembled(t *testing.T) {
	t.Parallel()
	for _, mode := range []setting.Mode{setting.Dev, setting.Serve} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			r := registryOf(mode)
			given := parts{}
			for _, set := range r.smallSets() {
				joined := r.join(t, set, everything)
				for _, name := range joined.Unasked() {
					t.Errorf("in %v nothing asks for %s, so that nobody knows whether its parts are there: let the test ask for it", r.names(set), name)
				}
				given.learn(set, joined.Given)
			}
			const seed = 20261125
			random := rand.New(rand.NewPCG(seed, seed))
			large := []uint{r.all()}
			for range 50 {
				large = append(large, r.legal(uint(random.Uint64())&r.all()))
			}
			for _, set := range large {
				if got, want := r.join(t, set).Given, given.of(set); !maps.Equal(got, want) {
					t.Fatalf("%v gives more or less than its modules give alone and by twos: %s", r.names(set), difference(got, want))
				}
			}
		})
	}
}

// smallSets are the smallest legal sets of each module and of each two, each after those
// inside it.
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

// parts are what sets give beyond what the known sets inside them do.
type parts map[uint]map[string]int

func (p parts) of(set uint) map[string]int {
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

// learn keeps what the set gives beyond what is known. Sets come after those inside them.
func (p parts) learn(set uint, given map[string]int) {
	own := map[string]int{}
	known := p.of(set)
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

// What cannot be joined is found: a missing part, and a doubled one.
func TestWhatIsMissingOrDoubledIsFound(t *testing.T) {
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
		t.Errorf("sending without domains was joined with %v, want an error that names what is missing", err)
	}
	if _, err := app.Join(r.mode, append(slices.Clone(r.rows), r.rows[domains])); err == nil || !strings.Contains(err.Error(), "already provided") {
		t.Errorf("domains twice was joined with %v, want an error about what is doubled", err)
	}
}

// A set that lacks what one of its modules requires is refused in a sentence that
// names it, and no other set is. Select asks of each row alone whether it and what it
// requires are on, so each choice of these is tried, beside all other modules and beside
// none; and many sets as they come.
func TestSetsThatLackSomethingAreRefused(t *testing.T) {
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
			sets = append(sets, set, r.legal(set))
		}
		legal, illegal := 0, 0
		for _, set := range sets {
			on := r.names(set)
			_, err := app.Select(on, mode == setting.Dev)
			missing := missingRequirements(r.rows, on)
			if (len(missing) == 0) != r.isLegal(set) {
				t.Fatalf("%v lacks %v, and the test takes it for legal: %t", on, missing, r.isLegal(set))
			}
			if len(missing) == 0 {
				legal++
				if err != nil {
					t.Errorf("%v is legal and was refused: %v", on, err)
				}
				continue
			}
			illegal++
			if err == nil {
				t.Errorf("%v lacks %v and was not refused", on, missing)
				continue
			}
			for _, name := range missing {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%v: the error does not name %s: %v", on, name, err)
				}
			}
		}
		if legal == 0 || illegal == 0 {
			t.Errorf("%d legal and %d illegal sets: the test has lost its subject", legal, illegal)
		}
	}
}

// missingRequirements works from the table alone.
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

// The smallest set of each module, and sets that together hold every two modules on and off
// beside each other as far as they may be, start and are ready.
func TestChosenSetsOfModulesStart(t *testing.T) {
	t.Parallel()
	r := registryOf(setting.Dev)
	sets := append(r.coveringSets(), r.needs...)
	slices.Sort(sets)
	for _, set := range slices.Compact(sets) {
		on := strings.Join(r.names(set), ",")
		t.Run("starts "+on, func(t *testing.T) {
			t.Parallel()
			app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MODULES"] = on })
			harness.Eventually(t, "it is ready", func() bool { return app.Do(t, http.MethodGet, "/readyz", nil).Status == http.StatusOK })
		})
	}
}

// choice is a set in the making: modules that are on, and modules that are off. The others
// are open.
type choice struct{ on, off uint }

// with switches the module, what it requires or what requires it too. The result is not ok
// where that contradicts the choice.
func (c choice) with(r registry, i int, on bool) (_ choice, ok bool) {
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

// neighbours is a state of two modules beside each other.
type neighbours struct {
	a, b     int
	onA, onB bool
}

// states are those of every two modules that the choice decides.
func (c choice) states(r registry) []neighbours {
	var states []neighbours
	for a := range r.rows {
		for b := range a {
			if c.decides(a) && c.decides(b) {
				states = append(states, neighbours{a, b, c.on&(1<<a) != 0, c.on&(1<<b) != 0})
			}
		}
	}
	return states
}

func (c choice) decides(i int) bool { return (c.on|c.off)&(1<<i) != 0 }

// coveringSets returns few legal sets that hold every state of two modules that any legal set
// does. The first is the full one.
func (r registry) coveringSets() []uint {
	open := map[neighbours]bool{}
	begin := choice{on: r.needs[0]}
	for a := range r.rows {
		for b := range a {
			for state := range 4 {
				n := neighbours{a, b, state&1 != 0, state&2 != 0}
				if _, ok := begin.holding(r, n); ok {
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
			if next.decides(i) {
				continue
			}
			on, _ := next.with(r, i, true)
			off, ok := next.with(r, i, false)
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
			if c, _ := begin.holding(r, state); news(c) > most {
				most, next = news(c), c
			}
		}
	}
}

// holding decides the two modules as the state says.
func (c choice) holding(r registry, n neighbours) (choice, bool) {
	c, okA := c.with(r, n.a, n.onA)
	c, okB := c.with(r, n.b, n.onB)
	return c, okA && okB
}

func (n neighbours) compare(o neighbours) int {
	return cmp.Or(n.a-o.a, n.b-o.b, strings.Compare(fmt.Sprint(n.onA, n.onB), fmt.Sprint(o.onA, o.onB)))
}
