package setting

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
)

// Mode is the purpose of a run. It determines defaults and requirements.
type Mode string

// The modes.
const (
	Dev   Mode = "dev"   // on a developer's machine: no mail leaves it
	Serve Mode = "serve" // in production
	Tool  Mode = "tool"  // a command that terminates: migrate, key create
)

// RawValues are setting values as given, by variable name.
type RawValues map[string]string

// Values are the settings of one start. The zero Values has the defaults.
type Values struct {
	Mode    Mode
	Machine string         // the host name of this machine
	given   map[string]any // by name; each has the type of its setting
}

// Read parses texts into values. The error is a Mistakes.
func Read(mode Mode, machine string, given RawValues) (Values, error) {
	v := Values{Mode: mode, Machine: machine, given: map[string]any{}}
	wrong := map[string][]error{} // by name
	unknown := maps.Clone(given)
	all := sortDeclarations()
	for _, d := range all {
		name := d.info().Name
		delete(unknown, name)
		if given[name] == "" {
			if mode == Serve && d.requirement() != "" {
				wrong[name] = []error{errors.New("is required: " + d.requirement())}
			}
			continue
		}
		value, err := d.parse(given[name])
		if err != nil {
			wrong[name] = splitErrors(err)
		}
		v.given[name] = value
	}
	var mistakes Mistakes
	for _, d := range all {
		name := d.info().Name
		if err := d.check(v); err != nil && wrong[name] == nil {
			wrong[name] = splitErrors(err)
		}
		for _, err := range wrong[name] {
			mistakes.Add(name, "%s", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		mistakes.Add(name, "is not a setting")
	}
	return v, mistakes.Err()
}

// splitErrors returns the errors that were joined.
func splitErrors(err error) []error {
	// only the outermost join: a form joins the errors of the items of a list
	if joined, several := err.(interface{ Unwrap() []error }); several {
		return joined.Unwrap()
	}
	return []error{err}
}

// LogValue returns the effective values without secrets.
func (v Values) LogValue() slog.Value {
	shown := []slog.Attr{slog.String("mode", string(v.Mode))}
	for _, d := range sortDeclarations() {
		shown = append(shown, slog.Attr{Key: d.info().Key, Value: d.show(v)})
	}
	return slog.GroupValue(shown...)
}

// String describes the values without printing them, because some are secret.
func (v Values) String() string { return fmt.Sprintf("%d settings in mode %s", len(v.given), v.Mode) }

// GoString returns the same as String, for %#v.
func (v Values) GoString() string { return v.String() }
