package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/web/server"
)

// Joined is the result of assembling a set of modules without running any constructor.
type Joined struct {
	Given map[string]int // constructors with their result, such as "*node.Node <= newNode()", and how many of each
	runs  map[string]int // constructors by name, and how many would run
}

// Join reports whether the modules can be assembled: whether each requested part is provided exactly once
// and without a cycle. Constructors of parts that nothing requests are not checked. more can request further
// parts.
func Join(mode setting.Mode, modules []Module, more ...fx.Option) (Joined, error) {
	j := Joined{map[string]int{}, map[string]int{}}
	f := Foundation{Config: setting.Values{Mode: mode}, Modules: modules, Logger: slog.New(slog.DiscardHandler)}
	// fx.WithLogger takes a constructor, and none is run here.
	err := fx.ValidateApp(append(f.options(more...), fx.Logger(j))...)
	return j, err
}

// Printf parses the log of Fx, the only place where it reports what a dry run would do.
func (j Joined) Printf(format string, args ...any) {
	line := strings.TrimSpace(strings.TrimPrefix(fmt.Sprintf(format, args...), "[Fx] "))
	if given, ok := strings.CutPrefix(line, "PROVIDE\t"); ok {
		given, _, _ = strings.Cut(given, " from module ")
		j.Given[given]++
	}
	if run, ok := strings.CutPrefix(line, "RUN\tprovide: "); ok {
		name, _, _ := strings.Cut(run, " in ")
		j.runs[name]++
	}
}

// Unasked returns the constructors that would not run.
func (j Joined) Unasked() []string {
	of := map[string]int{} // by name
	for given, n := range j.Given {
		_, name, _ := strings.Cut(given, " <= ")
		if !strings.Contains(name, "[...]") { // one constructor, with a line for each result
			n = 1 - of[name]
		}
		of[name] += n
	}
	var unasked []string
	for name, n := range of {
		if j.runs[name] < n {
			unasked = append(unasked, name)
		}
	}
	return unasked
}

// NewClockWatch returns the clock watch of all modules on a new database. Nothing is started.
func NewClockWatch(ctx context.Context, cfg setting.Values,
	log *slog.Logger) (_ *store.Store, watch *clockstep.Watch, err error) {
	modules, err := selectModules(cfg)
	if err != nil {
		return nil, nil, err
	}
	listener, err := server.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	cfg = config.BaseURL.Override(cfg, "http://"+listener.Addr().String())
	opened, err := store.Open(ctx, cfg, log)
	if err != nil {
		return nil, nil, err
	}
	app := New(Foundation{Config: cfg, Options: Options{Out: io.Discard}, Modules: modules, Store: opened,
		Listener: listener, Logger: log, Draining: &atomic.Bool{}, Fail: func(error) {}}, fx.Populate(&watch))
	return opened, watch, app.Err()
}
