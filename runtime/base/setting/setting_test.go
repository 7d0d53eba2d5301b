package setting_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/setting"
)

// The settings of a program that only these tests know.
var (
	port = setting.Declare(setting.Setting[int]{
		Name: "POSTRIDER_TEST_PORT", Group: "Test", Form: setting.Number(1, 65535), Default: 25,
		Help: "Where the test listens.",
	})
	patience = setting.Declare(setting.Setting[time.Duration]{
		Name: "POSTRIDER_TEST_PATIENCE", Group: "Test", Form: setting.Duration(time.Second, time.Hour),
		Help:        "How long the test waits.",
		DefaultText: "a second, and a minute in production",
		From: func(v setting.Values) time.Duration {
			if v.Mode == setting.Serve {
				return time.Minute
			}
			return time.Second
		},
	})
	_ = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_TEST_TOKEN", Also: "TEST_TOKEN", Group: "Test", Form: setting.Text("TOKEN"), Secret: true,
		Help:     "A secret value.",
		Required: "the test signs with it",
		Check: func(v setting.Values, value string) error {
			if value != "" && port.Get(v) == 1 {
				return errors.New("does not go with port 1")
			}
			return nil
		},
	})
	_ = setting.Declare(setting.Setting[[]netip.Prefix]{
		Name: "POSTRIDER_TEST_NEAR", Group: "Test", Form: setting.Ranges(), Help: "Addresses that may connect.",
	})
)

// A setting is declared next to the code that reads it, and read from the values of a process start.
func Example() {
	values, err := setting.Read(setting.Dev, "host.example", setting.RawValues{"POSTRIDER_TEST_PORT": "2525"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(port.Get(values), port.IsSet(values))
	fmt.Println(patience.Get(values), patience.IsSet(values))
	// Output:
	// 2525 true
	// 1s false
}

// All errors are reported together, each with the name of its setting.
func ExampleRead_mistakes() {
	_, err := setting.Read(setting.Serve, "host.example",
		setting.RawValues{"POSTRIDER_TEST_PORT": "70000", "POSTRIDER_TEST_NEAR": "10.0.0.0/8, next door, 10.0.0.0/99"})
	for line := range strings.Lines(err.Error()) {
		if strings.Contains(line, "TEST") { // the program's own settings are required too
			fmt.Print(line)
		}
	}
	// Output:
	// POSTRIDER_TEST_PORT is "70000"; want a number from 1 to 65535
	//   POSTRIDER_TEST_TOKEN is required: the test signs with it
	//   POSTRIDER_TEST_NEAR has "next door", which is not an address range; want 10.0.0.0/8
	//   POSTRIDER_TEST_NEAR has "10.0.0.0/99", which is not an address range; want 10.0.0.0/8
}

func TestDefaultMayDependOnTheMode(t *testing.T) {
	t.Parallel()
	for mode, want := range map[setting.Mode]time.Duration{setting.Dev: time.Second, setting.Serve: time.Minute} {
		if got := patience.Get(setting.Values{Mode: mode}); got != want {
			t.Errorf("the default in mode %s is %s, want %s", mode, got, want)
		}
	}
	if got := patience.Get(patience.Override(setting.Values{Mode: setting.Serve}, time.Hour)); got != time.Hour {
		t.Errorf("the given value is %s, want an hour: the default must not replace it", got)
	}
}

func TestWithDoesNotChangeTheOriginal(t *testing.T) {
	t.Parallel()
	before := port.Override(setting.Values{}, 1)
	after := port.Override(before, 2)
	if port.Get(before) != 1 || port.Get(after) != 2 {
		t.Errorf("the values are %d before and %d after, want 1 and 2", port.Get(before), port.Get(after))
	}
}

func TestReadRejectsInvalidSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode  setting.Mode
		given setting.RawValues
		want  setting.Mistakes
	}{
		"nothing set":                     {setting.Dev, nil, nil},
		"an empty text counts as not set": {setting.Dev, setting.RawValues{"POSTRIDER_TEST_PORT": ""}, nil},
		"required in production":          {setting.Serve, nil, setting.Mistakes{{"POSTRIDER_TEST_TOKEN", "is required: the test signs with it"}}},
		"not a number": {setting.Dev, setting.RawValues{"POSTRIDER_TEST_PORT": "smtp"},
			setting.Mistakes{{"POSTRIDER_TEST_PORT", `is "smtp"; want a number from 1 to 65535`}}},
		"a number out of bounds": {setting.Dev, setting.RawValues{"POSTRIDER_TEST_PORT": "0"},
			setting.Mistakes{{"POSTRIDER_TEST_PORT", `is "0"; want a number from 1 to 65535`}}},
		"a time out of bounds": {setting.Dev, setting.RawValues{"POSTRIDER_TEST_PATIENCE": "2h"},
			setting.Mistakes{{"POSTRIDER_TEST_PATIENCE", `is "2h"; want a duration from 1s to 1h0m0s, such as 5s`}}},
		"a conflict with another setting": {setting.Dev, setting.RawValues{"POSTRIDER_TEST_TOKEN": "x",
			"POSTRIDER_TEST_PORT": "1"}, setting.Mistakes{{"POSTRIDER_TEST_TOKEN", "does not go with port 1"}}},
		"unknown ones, in the order of the names": {setting.Dev, setting.RawValues{"POSTRIDER_TEST_Z": "1",
			"POSTRIDER_TEST_A": "1"}, setting.Mistakes{{"POSTRIDER_TEST_A", "is not a setting"}, {"POSTRIDER_TEST_Z", "is not a setting"}}},
	} {
		_, err := setting.Read(test.mode, "host.example", test.given)
		var got setting.Mistakes
		errors.As(err, &got)
		got = slices.DeleteFunc(slices.Clone(got),
			func(m setting.Mistake) bool { return !strings.Contains(m.Setting, "_TEST_") })
		if diff := cmp.Diff(test.want, got,
			cmp.Comparer(func(a, b setting.Mistakes) bool { return slices.Equal(a, b) })); diff != "" {
			t.Errorf("%s: the mistakes differ (-want +got):\n%s", name, diff)
		}
	}
}

func TestFillAddsMissingValuesFromAFile(t *testing.T) {
	t.Parallel()
	texts := setting.RawValues{"POSTRIDER_TEST_PORT": "2525"}
	wrong := texts.Fill("postrider.yaml", []byte("test_port: 25\ntest_near: [10.0.0.0/8, 192.0.2.1]\ntest_patience:\n"),
		"")
	if wrong != nil {
		t.Fatalf("a good file has the mistakes %v", wrong)
	}
	if diff := cmp.Diff(setting.RawValues{"POSTRIDER_TEST_PORT": "2525", "POSTRIDER_TEST_NEAR": "10.0.0.0/8,192.0.2.1",
		"POSTRIDER_TEST_PATIENCE": ""}, texts); diff != "" {
		t.Errorf("the texts differ (-want +got):\n%s", diff)
	}
}

func TestFillReportsThePositionOfMistakes(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":                                   "",
		"# only words\n":                     "",
		"test_port: 25\ntest_prot: 1\n":      "f:2: test_prot is not a setting",
		"test_port: 25\ntest_port: 26\n":     "f:2: test_port appears twice",
		"test_near: {a: b}\n":                "f:1: test_near must be a single value or a list of values",
		"test_near: [[a]]\n":                 "f:1: test_near must be a single value or a list of values",
		"- test_port\n":                      "f is not a mapping of setting names to values",
		"test_port: 25\n  test_near: ]\n":    "f is not valid YAML: line 2: mapping values are not allowed in this context",
		"test_patience: 5s\ntest_token: x\n": "f:1: test_patience is not a setting", // the one that names the file
	} {
		var got string
		if wrong := (setting.RawValues{}).Fill("f", []byte(content), "POSTRIDER_TEST_PATIENCE"); wrong != nil {
			got = strings.TrimPrefix(wrong.Error(), "1 setting is invalid:\n  ")
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("the file %q has the mistake %q, want %q", content, got, want)
		}
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	values, err := setting.Read(setting.Dev, "host.example",
		setting.RawValues{"POSTRIDER_TEST_TOKEN": "hunter2", "POSTRIDER_TEST_PORT": "77"})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("configuration", "config", values)
	shown := log.String() + fmt.Sprintf("%v %+v %#v %s", values, values, values, values)
	if strings.Contains(shown, "hunter2") {
		t.Errorf("the secret is shown: %s", shown)
	}
	if !strings.Contains(shown, "config.test_port=77") || !strings.Contains(shown, "config.test_token=") {
		t.Errorf("the log lacks the port or the name of the secret: %s", shown)
	}
}

func TestFormsParseTheirValues(t *testing.T) {
	t.Parallel()
	type parse func(string) (any, error)
	number := func(text string) (any, error) { return setting.Number(1, 9).Parse(text) }
	wait := func(text string) (any, error) { return setting.Duration(0, time.Hour).Parse(text) }
	turn := func(text string) (any, error) { return setting.Switch().Parse(text) }
	word := func(text string) (any, error) { return setting.OneOf("MODE", setting.Dev, setting.Serve).Parse(text) }
	door := func(text string) (any, error) { return setting.HostPort().Parse(text) }
	host := func(text string) (any, error) { return setting.Host().Parse(text) }
	nets := func(text string) (any, error) { p, err := setting.Ranges().Parse(text); return fmt.Sprint(p), err }
	ips := func(text string) (any, error) { p, err := setting.Addresses().Parse(text); return fmt.Sprint(p), err }
	for _, test := range []struct {
		form  parse
		text  string
		want  any // nil: refused
		wrong string
	}{
		{number, "9", 9, ""}, {number, "10", nil, `is "10"`}, {number, "1.5", nil, `is "1.5"`}, {number, "", nil, `is ""`},
		{wait, "90s", 90 * time.Second, ""}, {wait, "30", 30 * time.Second, ""}, {wait, "0", time.Duration(0), ""},
		{wait, "-1s", nil, `is "-1s"`}, {wait, "soon", nil, "want a duration from 0 to 1h0m0s"},
		{turn, "On", true, ""}, {turn, "no", false, ""}, {turn, "maybe", nil, "want true or false"},
		{word, "dev", setting.Dev, ""}, {word, "Dev", nil, "want dev or serve"},
		{door, ":25", ":25", ""}, {door, "[::1]:25", "[::1]:25", ""}, {door, "mail.example:0", "mail.example:0", ""},
		{door, "mail.example", nil, "want host:port"}, {door, "h:65536", nil, "has port"}, {door, "a b:1", nil, "has host"},
		{host, "Mail.Example.", "mail.example", ""}, {host, "bücher.example", "xn--bcher-kva.example", ""},
		{host, "192.0.2.1", nil, "not a host name"}, {host, "-a.example", nil, "not a host name"}, {host, strings.Repeat("a", 64), nil, "not a host name"},
		{nets, "10.1.2.3/8,192.0.2.1", "[10.0.0.0/8 192.0.2.1/32]", ""}, {nets, "10.0.0.0/33", nil, "not an address range"},
		{ips, "::ffff:192.0.2.1, 2001:db8::1,", "[192.0.2.1 2001:db8::1]", ""}, {ips, "localhost", nil, "not an address"},
	} {
		got, err := test.form(test.text)
		switch {
		case test.want == nil && (err == nil || !strings.Contains(err.Error(), test.wrong)):
			t.Errorf("%q returned %v and the error %v, want an error with %q", test.text, got, err, test.wrong)
		case test.want != nil && (err != nil || got != test.want):
			t.Errorf("%q returned %v and the error %v, want %v", test.text, got, err, test.want)
		}
	}
}

func TestInvalidDeclarationPanics(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]setting.Setting[string]{
		"without a form": {Name: "POSTRIDER_TEST_X", Group: "Test", Help: "X."},
		"twice":          {Name: "POSTRIDER_TEST_PORT", Group: "Test", Help: "X.", Form: setting.Text("X")},
		"a computed default without a text": {Name: "POSTRIDER_TEST_Y", Group: "Test", Help: "X.", Form: setting.Text("X"),
			From: func(setting.Values) string { return "" }},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the declaration was accepted", name)
				}
			}()
			setting.Declare(s)
		}()
	}
}
