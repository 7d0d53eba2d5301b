package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/secret"
	"go.yaml.in/yaml/v3"
)

const plain = "swordfish-swordfish"

type config struct {
	Name  string        `json:"name"  yaml:"name"`
	Shown secret.String `json:"shown" yaml:"shown"`
	inner secret.String
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	s := secret.New(plain)
	holder := config{Name: "n", Shown: s, inner: s}
	printed := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s"} {
		printed["value "+verb] = fmt.Sprintf(verb, s)
		printed["pointer "+verb] = fmt.Sprintf(verb, &s)
		printed["struct "+verb] = fmt.Sprintf(verb, holder)
		printed["slice "+verb] = fmt.Sprintf(verb, []secret.String{s})
	}
	printed["error"] = fmt.Errorf("with %w and %v", fmt.Errorf("inner %v", s), holder).Error()
	asJSON, err := json.Marshal(map[string]any{"v": s, "h": holder})
	if err != nil {
		t.Fatal(err)
	}
	printed["json"] = string(asJSON)
	asYAML, err := yaml.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	printed["yaml"] = string(asYAML)
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("m", "v", s, "h", holder, "g", slog.GroupValue(slog.Any("s", &s)))
	}
	printed["slog"] = log.String()

	for how, text := range printed {
		leaks := []string{plain, fmt.Sprintf("%x", plain), fmt.Sprintf("%X", plain), fmt.Sprintf("%d", []byte(plain))}
		for _, leak := range leaks {
			if strings.Contains(text, leak) {
				t.Errorf("%s shows the secret: %s", how, text)
			}
		}
	}
	for _, how := range []string{"value %v", "value %#v", "value %s", "json", "yaml", "slog"} {
		if !strings.Contains(printed[how], secret.Redacted) {
			t.Errorf("%s = %s, want it to contain %s", how, printed[how], secret.Redacted)
		}
	}
}

func TestSecretsAreReadAndCompared(t *testing.T) {
	t.Parallel()
	var read config
	if err := json.Unmarshal([]byte(`{"shown":"`+plain+`"}`), &read); err != nil {
		t.Fatal(err)
	}
	if read.Shown.Reveal() != plain || !read.Shown.Equal(secret.New(plain)) {
		t.Errorf("read %q", read.Shown.Reveal())
	}
	var empty secret.String
	if empty.Reveal() != "" || !empty.IsZero() || fmt.Sprint(empty) != "" || !empty.Equal(secret.New("")) ||
		empty.Equal(read.Shown) {
		t.Error("the zero value is not the empty secret")
	}
}

func TestTokensAreRandomAndHashed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		token, hash := secret.NewToken("svc_")
		text := token.Reveal()
		digits, found := strings.CutPrefix(text, "svc_")
		if !found || len(digits) != 43 {
			t.Fatalf("token %q: want svc_ and 43 digits", text)
		}
		if i := strings.IndexFunc(digits, func(r rune) bool {
			return !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", r)
		}); i >= 0 {
			t.Fatalf("token %q is not base 62", text)
		}
		if !bytes.Equal(hash, secret.HashToken(text)) || len(hash) != 32 {
			t.Fatalf("hash %x of %q", hash, text)
		}
		if seen[text] {
			t.Fatalf("token %q was returned twice", text)
		}
		seen[text] = true
	}
}
