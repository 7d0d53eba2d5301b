package setting

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/base/secret"
)

// Setting declares a setting whose value has the type T.
type Setting[T any] struct {
	Name  string // of the environment variable; the flag and the key in the file are derived from it
	Also  string // another variable, which is read if Name is not set
	Group string // the section in the help and in docs/settings.md
	Form  Syntax[T]
	Help  string // the purpose, in one or two sentences

	// Default is the value if the setting is not set.
	Default T
	// From computes the default if it is not a constant. It may read other settings.
	From func(Values) T
	// DefaultText is the default in words, for readers. It is required with From.
	DefaultText string

	// Required describes the value that production needs. It is empty if the setting is optional.
	Required string
	// Check reports whether the value fits the mode and the other settings. Its error continues a sentence
	// that begins with the name: "is required with …".
	Check func(v Values, value T) error
	// Secret values are never shown.
	Secret bool
	// Show returns the value for the log. If nil, the log shows the value itself, or nothing if it is
	// secret.
	Show func(T) slog.Value
}

// Declare registers a setting. It panics if the declaration is invalid, which every start and every test
// would show.
func Declare[T any](s Setting[T]) *Setting[T] {
	switch {
	case s.Name == "" || s.Group == "" || s.Help == "" || s.Form.Parse == nil:
		panic("setting: " + s.Name + " requires a name, a group, a form and a help text")
	case s.From != nil && s.DefaultText == "":
		panic("setting: " + s.Name + " has a From without a DefaultText")
	case slices.ContainsFunc(declarations, func(other declaration) bool { return other.info().Name == s.Name }):
		panic("setting: " + s.Name + " is declared twice")
	}
	declarations = append(declarations, &s)
	return &s
}

// Get returns the value.
func (s *Setting[T]) Get(v Values) T {
	if value, given := v.given[s.Name]; given {
		return value.(T)
	}
	if s.From != nil {
		return s.From(v)
	}
	return s.Default
}

// IsSet reports whether the operator set the value.
func (s *Setting[T]) IsSet(v Values) bool {
	_, given := v.given[s.Name]
	return given
}

// Override returns a copy of v with another value of this setting.
func (s *Setting[T]) Override(v Values, value T) Values {
	given := maps.Clone(v.given)
	if given == nil {
		given = map[string]any{}
	}
	given[s.Name] = value
	v.given = given
	return v
}

// fileSuffix ends the names of variables with the path of a file that contains a secret.
const fileSuffix = "_FILE"

// Info describes a setting to readers.
type Info struct {
	Name, Also, Group, Help string
	Flag                    string // without the dashes
	Key                     string // in the file
	File                    string // variable with the path of a file that contains the value, for secrets
	Placeholder             string // of the value, for example N; empty for a switch
	Default, Takes          string // in words; Takes may be empty
	Secret, Switch          bool
}

// All describes all settings, section by section.
func All() []Info {
	all := make([]Info, 0, len(declarations))
	for _, d := range sortDeclarations() {
		all = append(all, d.info())
	}
	return all
}

// declaration is a Setting of any type.
type declaration interface {
	group() string
	info() Info
	parse(text string) (any, error)
	requirement() string
	check(v Values) error
	show(v Values) slog.Value
}

// declarations is filled while packages are initialized, and only read afterwards.
var declarations []declaration

// sortDeclarations returns the declarations with the groups in alphabetical order. Within a group they keep the order
// of declaration.
func sortDeclarations() []declaration {
	return slices.SortedStableFunc(slices.Values(declarations), func(a, b declaration) int {
		return strings.Compare(a.group(), b.group())
	})
}

func (s *Setting[T]) group() string { return s.Group }

func (s *Setting[T]) info() Info {
	short := strings.ToLower(strings.TrimPrefix(s.Name, prefix))
	i := Info{Name: s.Name, Also: s.Also, Group: s.Group, Help: s.Help, Flag: strings.ReplaceAll(short, "_", "-"),
		Key:         short,
		Placeholder: s.Form.Placeholder, Default: s.DefaultText, Takes: s.Form.Takes, Secret: s.Secret,
		Switch: s.Form.Placeholder == ""}
	if s.Secret {
		i.File = s.Name + fileSuffix
	}
	if i.Default == "" {
		i.Default = fmt.Sprint(s.Default)
	}
	if i.Default == "" || i.Default == "[]" || i.Default == "<nil>" {
		i.Default = "none"
	}
	return i
}

func (s *Setting[T]) parse(text string) (any, error) { return s.Form.Parse(text) }

func (s *Setting[T]) requirement() string { return s.Required }

func (s *Setting[T]) check(v Values) error {
	if s.Check == nil {
		return nil
	}
	return s.Check(v, s.Get(v))
}

func (s *Setting[T]) show(v Values) slog.Value {
	switch {
	case s.Show != nil:
		return s.Show(s.Get(v))
	case s.Secret && s.IsSet(v):
		return slog.StringValue(secret.Redacted)
	case s.Secret:
		return slog.StringValue("")
	}
	return slog.AnyValue(s.Get(v))
}
