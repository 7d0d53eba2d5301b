package expression

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// Limits of an explanation.
const (
	maxParts = 50
	maxValue = 1 << 10 // bytes of a value in JSON
)

// Part is a part of an expression and its value.
type Part struct {
	Text  string
	Value any    // as JSON
	Error string // why it has no value
}

// Explanation is an expression with its value and the values of its parts.
type Explanation struct {
	Text   string
	Result bool
	Error  string // why it has no value, which counts as false
	Parts  []Part // from the whole expression to the smallest parts, in the order of the text
}

// Explain evaluates a condition and every part of it, including parts that could not change the result. It
// leaves out the parts of a loop over a list, which have one value per element.
func (p *Program) Explain(ctx context.Context, scope Scope) Explanation {
	out := Explanation{Text: p.Text}
	result, err := p.IsTrue(ctx, scope)
	if out.Result = result; err != nil {
		out.Error = err.Error()
	}
	state := p.exhaust(ctx, scope)
	if state == nil {
		return out
	}
	info := p.checked.NativeRep().SourceInfo()
	for _, e := range listParts(p.checked.NativeRep().Expr(), nil) {
		value, known := state.Value(e.ID())
		text, err := cel.ExprToString(e, info)
		if !known || err != nil || len(out.Parts) == maxParts {
			continue
		}
		out.Parts = append(out.Parts, partOf(text, value))
	}
	return out
}

// exhaust evaluates every part. It returns nil if that is not possible.
func (p *Program) exhaust(ctx context.Context, scope Scope) (state interpreter.EvalState) {
	defer func() {
		if recover() != nil {
			state = nil
		}
	}()
	program, err := p.env.Program(p.checked, append(slices.Clone(bounds), cel.EvalOptions(cel.OptExhaustiveEval))...)
	if err != nil {
		return nil
	}
	_, details, _ := program.ContextEval(ctx, scope.values()) // the part with the error reports it
	if details == nil {
		return nil
	}
	return details.State()
}

// listParts returns the parts of an expression that are worth a line: calls, operators and whole paths, but not
// constants.
func listParts(e ast.Expr, list []ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.CallKind:
		list = append(list, e)
		if c := e.AsCall(); c.IsMemberFunction() {
			list = listParts(c.Target(), list)
		}
		for _, argument := range e.AsCall().Args() {
			list = listParts(argument, list)
		}
	case ast.SelectKind, ast.IdentKind:
		list = append(list, e)
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			list = listParts(element, list)
		}
	case ast.ComprehensionKind:
		list = listParts(e.AsComprehension().IterRange(), append(list, e))
	case ast.LiteralKind, ast.MapKind, ast.StructKind, ast.UnspecifiedExprKind:
	}
	return list
}

func partOf(text string, value ref.Val) Part {
	part := Part{Text: text}
	if types.IsUnknownOrError(value) {
		part.Error = "has no value"
		if err, is := value.Value().(error); is {
			part.Error = shortenError(err).Error()
		}
		return part
	}
	part.Value = toJSON(value, 0)
	if encoded, err := json.Marshal(part.Value); err != nil || len(encoded) > maxValue {
		part.Value = fmt.Sprintf("%.200s…", encoded)
	}
	return part
}

// toJSON converts a value to JSON. Values nested too deeply are left out.
func toJSON(value ref.Val, depth int) any {
	if depth > 16 {
		return nil
	}
	switch v := value.(type) {
	case *types.Optional:
		if !v.HasValue() {
			return nil
		}
		return toJSON(v.GetValue(), depth+1)
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True && len(list) < maxParts; {
			list = append(list, toJSON(it.Next(), depth+1))
		}
		return list
	case traits.Mapper:
		object := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True && len(object) < maxParts; {
			key := it.Next()
			object[fmt.Sprint(key.Value())] = toJSON(v.Get(key), depth+1)
		}
		return object
	}
	switch v := value.Value().(type) {
	case bool, int64, uint64, float64, string:
		return v
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case time.Duration:
		return v.String()
	}
	if value.Type() == types.NullType {
		return nil
	}
	return fmt.Sprint(value.Value())
}
