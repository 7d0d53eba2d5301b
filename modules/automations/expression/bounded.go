package expression

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// Limits of one call. CEL computes the cost of a call after it returns, but a single call could build gigabytes
// of text or match a regular expression for minutes.
const (
	maxMade     = 256 << 10 // bytes of text that one call may build
	maxPattern  = 1000      // bytes of a regular expression
	maxProgram  = 500       // instructions of the compiled expression, about one per character to match
	maxMatching = 5_000_000 // instructions times bytes of text, about 50 ms
)

var (
	errPattern = errors.New("the regular expression is too large for this text")
	errMade    = errors.New("builds a text that is too long")
)

// bounds are the options of every program.
var bounds = []cel.ProgramOption{cel.CostTracking(costs{}), cel.CostLimit(maxCost),
	cel.InterruptCheckFrequency(everyLoops), cel.CustomDecoratorV2(boundCost)}

// allowance is the remaining cost that several expressions share.
type allowance struct{ left int64 }

type allowanceKey struct{}

// WithSharedBudget limits the total cost of all expressions evaluated under the returned context to the cost of five of
// the most expensive ones.
func WithSharedBudget(ctx context.Context) context.Context {
	return context.WithValue(ctx, allowanceKey{}, &allowance{5 * maxCost})
}

// IsExpensive reports whether the expressions evaluated under a context of WithSharedBudget have cost more than a
// single expression may.
func IsExpensive(ctx context.Context) bool {
	a, _ := ctx.Value(allowanceKey{}).(*allowance)
	return a != nil && a.left < 4*maxCost
}

var errTogether = errors.New("was not evaluated, because the conditions before it took too much")

// allowanceOf returns the remaining allowance, or nil if there is no limit. It fails if nothing is left.
func allowanceOf(ctx context.Context) (*allowance, error) {
	a, _ := ctx.Value(allowanceKey{}).(*allowance)
	if a != nil && a.left <= 0 {
		return nil, errTogether
	}
	return a, nil
}

// spend subtracts the cost of an evaluation. Interrupted evaluations report no cost.
func (a *allowance) spend(details *cel.EvalDetails) {
	switch {
	case a == nil:
	case details == nil || details.ActualCost() == nil:
		a.left -= maxCost
	default:
		a.left -= int64(min(*details.ActualCost(), maxCost))
	}
}

// boundedCalls limits the functions that can be too expensive in a single call. They return nil for arguments
// that they do not handle, which leaves the call to the library.
var boundedCalls = map[string]func(args []ref.Val) ref.Val{"matches": matchBounded, "replace": replaceBounded,
	"join":   joinBounded,
	"format": formatBounded}

func boundCost(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, is := i.(interpreter.InterpretableCall)
	if !is || boundedCalls[call.Function()] == nil {
		return i, nil
	}
	return &boundedCall{call, boundedCalls[call.Function()]}, nil
}

type boundedCall struct {
	interpreter.InterpretableCall

	do func(args []ref.Val) ref.Val
}

// Exec implements interpreter.InterpretableV2.
func (c *boundedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	args := make([]ref.Val, 0, len(c.Args()))
	for _, arg := range c.Args() {
		args = append(args, arg.Exec(frame))
	}
	value := c.do(args)
	if value == nil {
		return c.InterpretableCall.Exec(frame)
	}
	if tracker := frame.CostTracker(); tracker != nil {
		tracker.EvalVarArgs(frame, c.ID(), c.InterpretableCall, args, value)
	}
	return value
}

// textsOf returns the arguments if all of them are strings.
func textsOf(args []ref.Val) []string {
	var out []string
	for _, arg := range args {
		text, is := arg.(types.String)
		if !is {
			return nil
		}
		out = append(out, string(text))
	}
	return out
}

func matchBounded(args []ref.Val) ref.Val {
	texts := textsOf(args)
	if len(texts) != 2 {
		return nil
	}
	if estimateMatching(texts[1], len(texts[0])) > maxMatching {
		return types.WrapErr(errPattern)
	}
	found, err := regexp.MatchString(texts[1], texts[0])
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(found)
}

// estimateMatching estimates the cost of matching a regular expression. The result exceeds maxMatching if the
// expression is too large.
func estimateMatching(pattern string, length int) int {
	if len(pattern) > maxPattern {
		return maxMatching + 1
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0 // matches reports this error
	}
	size := countInstructions(parsed)
	if size > maxProgram {
		return maxMatching + 1
	}
	return size * length
}

// countInstructions estimates the size of a compiled regular expression without compiling it. It stops counting once
// the size is too large.
func countInstructions(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += countInstructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, maxProgram+1)
}

func replaceBounded(args []ref.Val) ref.Val {
	texts := textsOf(args[:min(3, len(args))])
	if len(texts) != 3 {
		return nil
	}
	text, old, with, times := texts[0], texts[1], texts[2], -1
	if len(args) == 4 {
		n, is := args[3].(types.Int)
		if !is {
			return nil
		}
		times = int(n)
	}
	places := strings.Count(text, old)
	if times >= 0 {
		places = min(places, times)
	}
	if len(text)+places*max(0, len(with)-len(old)) > maxMade {
		return types.WrapErr(errMade)
	}
	return types.String(strings.Replace(text, old, with, times))
}

func joinBounded(args []ref.Val) ref.Val {
	list, is := args[0].(traits.Lister)
	between := textsOf(args[1:])
	if !is || len(between) != len(args)-1 {
		return nil
	}
	separator := strings.Join(between, "")
	made := strings.Builder{}
	for i, at := 0, list.Iterator(); at.HasNext() == types.True; i++ {
		text, is := at.Next().(types.String)
		if !is {
			return nil
		}
		if i > 0 {
			made.WriteString(separator)
		}
		if made.WriteString(string(text)); made.Len() > maxMade {
			return types.WrapErr(errMade)
		}
	}
	return types.String(made.String())
}

// formatBounded leaves the work to the library unless the arguments are too large; each of them is written once.
func formatBounded(args []ref.Val) ref.Val {
	size := 0
	for _, arg := range args {
		size += estimateBytes(arg)
	}
	if size > maxMade {
		return types.WrapErr(errMade)
	}
	return nil
}

// costs computes the cost of calls that CEL considers cheap regardless of the size of their arguments.
type costs struct{}

// CallCost implements cost.ActualCostEstimator. It returns nil to use the library's estimate.
func (costs) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	size := 0
	switch function {
	case "_==_", "_!=_":
		size = min(estimateBytes(args[0]), estimateBytes(args[1]))
	case "matches":
		if texts := textsOf(args); len(texts) == 2 {
			size = min(estimateMatching(texts[1], len(texts[0])), maxMatching)/10 + 10*len(texts[1])
		}
	case "size", "bytes", "string", "format", "replace", "join", "@in":
		for _, arg := range args {
			if !isAsked(function, arg) {
				size += estimateBytes(arg)
			}
		}
	default:
		return nil
	}
	cost := uint64(1 + size/10)
	return &cost
}

// isAsked reports whether a function inspects an argument without reading all of it.
func isAsked(function string, arg ref.Val) bool {
	_, isMap := arg.(traits.Mapper)
	_, isList := arg.(traits.Lister)
	return function == "size" && (isMap || isList) || function == "@in" && isMap
}

// estimateBytes estimates the size of a value in bytes. It stops counting once the value is too large for any
// call.
func estimateBytes(v any) int {
	const enough, each = 2 * maxMade, 8
	switch v := v.(type) {
	case types.String:
		return each + len(v)
	case string:
		return each + len(v)
	case types.Bytes:
		return each + len(v)
	case []any:
		n := each
		for i := 0; i < len(v) && n < enough; i++ {
			n += estimateBytes(v[i])
		}
		return n
	case []ref.Val:
		n := each
		for i := 0; i < len(v) && n < enough; i++ {
			n += estimateBytes(v[i])
		}
		return n
	case map[string]any:
		n := each
		for name, member := range v {
			if n += len(name) + estimateBytes(member); n > enough {
				break
			}
		}
		return n
	case traits.Lister:
		return sumBytes(v.Iterator(), func(item ref.Val) int { return estimateBytes(item) })
	case traits.Mapper:
		return sumBytes(v.Iterator(), func(key ref.Val) int { return estimateBytes(key) + estimateBytes(v.Get(key)) })
	default:
		return each
	}
}

func sumBytes(at traits.Iterator, of func(ref.Val) int) int {
	n := 8
	for at.HasNext() == types.True && n < 2*maxMade {
		n += of(at.Next())
	}
	return n
}
