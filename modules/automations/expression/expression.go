package expression

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// The bounds of one expression.
const (
	maxOctets  = 4 << 10
	maxNesting = 50
	maxCost    = 50_000
	everyLoops = 100 // turns of a comprehension between two looks at the context
)

// Names are what an expression can speak of.
var Names = []string{"trigger", "event", "run", "steps", "now"}

// environment is made at the first use: a process without automations needs none.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("trigger", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("event", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("run", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("steps", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("now", cel.TimestampType),
		cel.OptionalTypes(), ext.Strings(), cel.EnableMacroCallTracking(), // so that explanations can show macros as they were written
		cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(maxOctets), cel.ParserRecursionLimit(maxNesting),
	)
})

// Kind is what an expression gives.
type Kind int

// The kinds.
const (
	Boolean Kind = iota
	Timestamp
)

// Program is one compiled expression. It is safe for concurrent use.
type Program struct {
	Text    string
	kind    Kind
	program cel.Program
	checked *cel.Ast
	env     *cel.Env
}

// Compile makes a program of an expression. The error is a sentence for its author.
func Compile(text string, kind Kind) (*Program, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("the language CEL cannot be set up: %w", err)
	}
	if len(text) > maxOctets {
		return nil, fmt.Errorf("has %d octets; the limit is %d", len(text), maxOctets)
	}
	checked, issues := env.Compile(text)
	if issues != nil && issues.Err() != nil {
		return nil, errors.New(firstIssue(issues))
	}
	want := map[Kind]*cel.Type{Boolean: cel.BoolType, Timestamp: cel.TimestampType}[kind]
	if got := checked.OutputType(); !got.IsExactType(want) && !got.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("gives a value of the type %s; it must give %s", got, map[Kind]string{Boolean: "true or false", Timestamp: "a timestamp"}[kind])
	}
	program, err := env.Program(checked, bounds...)
	if err != nil {
		return nil, fmt.Errorf("cannot be compiled: %w", err)
	}
	return &Program{text, kind, program, checked, env}, nil
}

// firstIssue is the first message of the compiler in one line, with its place.
func firstIssue(issues *cel.Issues) string {
	list := issues.Errors()
	if len(list) == 0 {
		return "cannot be read"
	}
	first := list[0]
	message, _, _ := strings.Cut(first.Message, "\n")
	if len(message) > 300 {
		message = strings.ToValidUTF8(message[:300], "") + "…"
	}
	return fmt.Sprintf("line %d, column %d: %s", first.Location.Line(), first.Location.Column()+1, message)
}

// Scope is what the names of an expression stand for. Values are those of Decode.
type Scope struct {
	Trigger, Event, Run, Steps map[string]any
	Now                        time.Time
}

func (s Scope) values() map[string]any {
	return map[string]any{"trigger": orEmpty(s.Trigger), "event": orEmpty(s.Event), "run": orEmpty(s.Run), "steps": orEmpty(s.Steps), "now": s.Now}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// True evaluates a condition. The error says why it has no value: a field that is missing,
// two types that do not compare, a division by zero.
func (p *Program) True(ctx context.Context, scope Scope) (bool, error) {
	value, err := p.evaluate(ctx, scope)
	if err != nil {
		return false, err
	}
	b, is := value.Value().(bool)
	if !is {
		return false, fmt.Errorf("gives a value of the type %s and not true or false", value.Type().TypeName())
	}
	return b, nil
}

// Time evaluates an expression of the kind Timestamp. A string in the form of RFC 3339 is one, too.
func (p *Program) Time(ctx context.Context, scope Scope) (time.Time, error) {
	value, err := p.evaluate(ctx, scope)
	if err != nil {
		return time.Time{}, err
	}
	switch v := value.Value().(type) {
	case time.Time:
		return v, nil
	case string:
		at, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return time.Time{}, errors.New("gives a string that is no time of RFC 3339")
		}
		return at, nil
	default:
		return time.Time{}, fmt.Errorf("gives a value of the type %s and not a timestamp", value.Type().TypeName())
	}
}

func (p *Program) evaluate(ctx context.Context, scope Scope) (value ref.Val, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = nil, errors.New("cannot be evaluated with these values")
		}
	}()
	shared, err := allowanceOf(ctx)
	if err != nil {
		return nil, err
	}
	value, details, err := p.program.ContextEval(ctx, scope.values())
	shared.spend(details)
	if err != nil {
		return nil, explained(err)
	}
	if types.IsUnknownOrError(value) {
		return nil, errors.New("has no value")
	}
	return value, nil
}

// explained is an error in one short line.
func explained(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "") + "…"
	}
	return errors.New(line)
}
