package expression_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/runtime/base/expect"
)

func TestLimitsCostOfSingleCall(t *testing.T) { //nolint:paralleltest // measures memory
	values := decodeScope(t, `{"data": {"s": "`+strings.Repeat("a", 150_000)+`", "l": [`+
		strings.TrimSuffix(strings.Repeat(`"a",`, 20_000), ",")+`], "p": "(a?){500}a{500}b"}}`)
	for text, want := range map[string]string{
		`event.data.s.matches(event.data.p)`:                                                                 "",
		`event.data.l.exists(x, x.matches("a{900}"))`:                                                        "",
		`event.data.l.exists(x, x.matches("a{400}"))`:                                                        "cost",
		`event.data.s.replace("a", event.data.s).size() == 0`:                                                "too long",
		`event.data.s.replace("", event.data.s).size() == 0`:                                                 "too long",
		`event.data.s.replace("a", event.data.s, 3).size() == 0`:                                             "too long",
		`event.data.l.join(event.data.s).size() == 0`:                                                        "too long",
		`"%s%s%s".format([event.data, event.data, event.data]).size() == 0`:                                  "cost",
		`event.data.l.exists(x, "%s%s%s".format([event.data, event.data, event.data]) == "a")`:               "cost",
		`event.data.l.exists(x, event.data.l.join("") == "b")`:                                               "cost",
		`event.data.l.exists(x, event.data.s.size() == 1)`:                                                   "cost",
		`event.data.l.exists(x, bytes(event.data.s) == b"b")`:                                                "cost",
		`event.data.l.exists(x, string(event.data.s) == "b")`:                                                "cost",
		`event.data.l.exists(x, event.data.s in event.data.l)`:                                               "cost",
		`event.data.l.exists(x, event.data == event.data && false)`:                                          "cost",
		`event.data.l.exists(x, event.data.l != event.data.l)`:                                               "cost",
		`event.data.s.replace("a","b").replace("b","c").replace("c","d").replace("d","aa").size() == 300000`: "cost",
	} {
		p, err := expression.Compile(text, expression.Boolean)
		if err != nil {
			t.Errorf("%s does not compile: %v", text, err)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		took := expect.MeasureCPU(t, func() { _, err = p.IsTrue(t.Context(), values) })
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s returned %v, want an error that contains %q", text, err, want)
		}
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 50 || took > 5*time.Second {
			t.Errorf("%s took %d MB and %s", text, made, took)
		}
	}
}

func TestTogetherLimitsTotalCost(t *testing.T) {
	t.Parallel()
	values := decodeScope(t, `{"data": {"s": "`+strings.Repeat("a", 20_000)+`", "n": 1}}`)
	dear, err := expression.Compile(`event.data.s.matches("(a?){9}(b|c|aa?)*a{20}b")`, expression.Boolean)
	if err != nil {
		t.Fatal(err)
	}
	cheap, err := expression.Compile(`event.data.n == 1`, expression.Boolean)
	if err != nil {
		t.Fatal(err)
	}
	ctx := expression.WithSharedBudget(t.Context())
	for range 1000 {
		if is, err := cheap.IsTrue(ctx, values); err != nil || !is {
			t.Fatalf("one of a thousand cheap conditions returned %t and %v, want true", is, err)
		}
	}
	done := 0
	for ; done < 100; done++ {
		if _, err = dear.IsTrue(ctx, values); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "took too much") || done < 5 || done > 50 {
		t.Errorf("after %d expensive conditions the error is %v, want one after a few", done, err)
	}
	if is, err := cheap.IsTrue(t.Context(), values); err != nil || !is {
		t.Errorf("a single condition returned %t and %v, want true", is, err)
	}
}

func TestBoundedCallsMatchLibrary(t *testing.T) {
	t.Parallel()
	values := decodeScope(t, `{"data": {"s": "Ada Lovelace", "list": ["a", "b"], "mixed": ["a", 1], "n": 1}}`)
	for text, want := range map[string]string{
		`event.data.s.matches("^A.a")`:                                           "",
		`!matches(event.data.s, "^b")`:                                           "",
		`event.data.s.matches("(")`:                                              "missing closing",
		`event.data.n.matches("1")`:                                              "no such overload",
		`event.data.gone.matches("1")`:                                           "no such key",
		`event.data.s.replace("a", "o") == "Ado Loveloce"`:                       "",
		`event.data.s.replace("a", "o", 1) == "Ado Lovelace"`:                    "",
		`event.data.s.replace("a", "o", -1) == "Ado Loveloce"`:                   "",
		`event.data.s.replace("a", 1) == ""`:                                     "no matching overload",
		`event.data.list.join() == "ab"`:                                         "",
		`event.data.list.join(", ") == "a, b"`:                                   "",
		`event.data.mixed.join("") == ""`:                                        "join: invalid input",
		`"%s is %d".format([event.data.s, event.data.n]) == "Ada Lovelace is 1"`: "",
		`["x"].join("y").replace("x", "z").matches("z")`:                         "",
		`"a" in event.data.list && !("c" in event.data.list)`:                    "",
		`event.data == event.data && event.data.list != ["a"]`:                   "",
		`size(event.data.list) == 2 && event.data.s.size() == 12`:                "",
	} {
		p, err := expression.Compile(text, expression.Boolean)
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s does not compile: %v", text, err)
			}
			continue
		}
		got, err := p.IsTrue(t.Context(), values)
		switch {
		case want == "" && (err != nil || !got):
			t.Errorf("%s returned %t and %v, want true", text, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s returned %v, want an error that contains %q", text, err, want)
		}
	}
}
