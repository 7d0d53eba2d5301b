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

// Limits of an expression.
const (
	maxBytes   = 4 << 10
	maxNesting = 50
	maxCost    = 50_000
	everyLoops = 100 // iterations of a comprehension between checks of the context
)

// Names are the variables that an expression can use.
var Names = []string{"trigger", "event", "run", "steps", "now"}

// environment is created on first use, because a process without automations does not need it.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("trigger", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("event", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("run", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("steps", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("now", cel.TimestampType),
		// lets explanations show macros as they were written
		cel.OptionalTypes(), ext.Strings(), cel.EnableMacroCallTracking(),
		cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(maxBytes), cel.ParserRecursionLimit(maxNesting),
	)
})

// ValueType is the type of an expression's result.
type ValueType int

// The kinds.
const (
	Boolean ValueType = iota
	Timestamp
)

// Program is one compiled expression. It is safe for concurrent use.
type Program struct {
	Text    string
	kind    ValueType
	program cel.Program
	checked *cel.Ast
	env     *cel.Env
}

// Compile compiles an expression. The error message is for its author.
func Compile(text string, kind ValueType) (*Program, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("set up CEL: %w", err)
	}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("has %d bytes; the limit is %d", len(text), maxBytes)
	}
	checked, issues := env.Compile(text)
	if issues != nil && issues.Err() != nil {
		return nil, errors.New(firstIssue(issues))
	}
	want := map[ValueType]*cel.Type{Boolean: cel.BoolType, Timestamp: cel.TimestampType}[kind]
	if got := checked.OutputType(); !got.IsExactType(want) && !got.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("has a value of type %s; must be %s", got,
			map[ValueType]string{Boolean: "true or false", Timestamp: "a timestamp"}[kind])
	}
	program, err := env.Program(checked, bounds...)
	if err != nil {
		return nil, fmt.Errorf("cannot be compiled: %w", err)
	}
	return &Program{text, kind, program, checked, env}, nil
}

// firstIssue returns the compiler's first message on one line, with its position.
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

// Scope contains the values of an expression's variables, as returned by Decode.
type Scope struct {
	Trigger, Event, Run, Steps map[string]any
	Now                        time.Time
}

func (s Scope) values() map[string]any {
	return map[string]any{"trigger": orEmpty(s.Trigger), "event": orEmpty(s.Event), "run": orEmpty(s.Run),
		"steps": orEmpty(s.Steps), "now": s.Now}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// IsTrue evaluates a condition. The error explains why it has no value, such as a missing field, two types that
// cannot be compared, or a division by zero.
func (p *Program) IsTrue(ctx context.Context, scope Scope) (bool, error) {
	value, err := p.evaluate(ctx, scope)
	if err != nil {
		return false, err
	}
	b, is := value.Value().(bool)
	if !is {
		return false, fmt.Errorf("has a value of type %s, not true or false", value.Type().TypeName())
	}
	return b, nil
}

// Time evaluates an expression of kind Timestamp. It also accepts a string in RFC 3339 form.
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
			return time.Time{}, errors.New("is a string that is not an RFC 3339 time")
		}
		return at, nil
	default:
		return time.Time{}, fmt.Errorf("has a value of type %s, not a timestamp", value.Type().TypeName())
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
		return nil, shortenError(err)
	}
	if types.IsUnknownOrError(value) {
		return nil, errors.New("has no value")
	}
	return value, nil
}

// shortenError returns an error text of one line.
func shortenError(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "") + "…"
	}
	return errors.New(line)
}
