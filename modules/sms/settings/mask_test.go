package settings

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sms/provider"
)

const s3 = "s3cr3t"

func TestMasksBodyConstants(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		``:                                     ``,
		`{"to": "{{to}}", "text": "{{text}}"}`: `{"to": "{{to}}", "text": "{{text}}"}`,
		`{"key":"` + s3 + `","to":"+{{to}}"}`:  `{"key":"********","to":"+{{to}}"}`,
		`{"auth":{"u":"ada","p":"` + s3 +
			`"},"n":[1,"x",true,null,"","{{text}}"]}`: `{"auth":{"u":"********","p":"********"},"n":["********","********",true,null,"","{{text}}"]}`,
		"{\n  \"key\" : \"a\\\"" + s3 +
			"\\u00e9\",\n  \"to\": \"00{{to}}\"\n}": "{\n  \"key\" : \"********\",\n  \"to\": \"********{{to}}\"\n}",
		`{"k": "{% assign k = '` + s3 + `' %}{{ text | append: \"` + s3 +
			`\" }}{{to}}"}`: `{"k": "****************{{to}}"}`,
		`"` + s3 + `"`: `"********"`,
		`{"k": "` + s3 + `", "k": "` + s3 + `2"}`: `{"k": "********", "k": "********"}`,
		`{"pin": -12.5e3}`:                        `{"pin": "********"}`,
	} {
		checkMask(t, "", body, want)
		if body != "" && !json.Valid([]byte(maskBody("", body))) {
			t.Errorf("%s is masked as invalid JSON: %s", body, maskBody("", body))
		}
	}
	for body, want := range map[string]string{
		`to={{to}}&user=ada&pass=` + s3 +
			`=&x=&text={{text}}`: `to={{to}}&user=********&pass=********&x=&text={{text}}`,
		`k=` + s3 + `&k=` + s3 + `2&to={{to}}`: `k=********&k=********&to={{to}}`,
	} {
		checkMask(t, "application/x-www-form-urlencoded; charset=utf-8", body, want)
	}
	for body, want := range map[string]string{
		`<sms user="ada" pw="` + s3 + `"><to>{{to}}</to></sms>`: `********{{to}}********`,
		s3: `********`,
	} {
		checkMask(t, "application/xml", body, want)
		checkMask(t, "text/plain", body, want)
	}
}

func checkMask(t *testing.T, contentType, body, want string) {
	t.Helper()
	got := maskBody(contentType, body)
	if diff := cmp.Diff(want, got); diff != "" || strings.Contains(got, s3) {
		t.Errorf("%s, masked (-want +got):\n%s", body, diff)
	}
	if again := maskBody(contentType, got); again != got {
		t.Errorf("%s is masked again as %s", got, again)
	}
	if back, err := unmaskBody(contentType, got, body); err != nil || back != body {
		t.Errorf("%s is restored as %s, %v; want %s", got, back, err, body)
	}
}

func TestMaskRestoresTextAtItsPosition(t *testing.T) {
	t.Parallel()
	const original = `{"key": "` + s3 + `", "pin": 1234, "list": ["a", "b"], "to": "{{to}}"}`
	for body, want := range map[string]string{
		`{"to":"{{to}}","text":"{{text}}","key":"********"}`: `{"to":"{{to}}","text":"{{text}}","key":"` + s3 + `"}`,
		`{"pin":"********","key":"new"}`:                     `{"pin":1234,"key":"new"}`,
		`{"list":["x","********"]}`:                          `{"list":["x","b"]}`,
		`{"key":"new"}`:                                      `{"key":"new"}`,
		`{"other":"********"}`:                               "",
		`{"key":"Bearer ********"}`:                          "",
		`{"to":"********"}`:                                  "",
		`{"a":{"key":"********"}}`:                           "",
		`{"********":"x"}`:                                   "",
		`{"list":["x","y","********"]}`:                      "",
	} {
		got, err := unmaskBody("application/json", body, original)
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%s is restored as %s, %v; want %q", body, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), s3) {
			t.Errorf("%s: the error contains the secret: %v", body, err)
		}
	}
	if _, err := unmaskBody("application/x-www-form-urlencoded", `key=********&to={{to}}`, original); err == nil {
		t.Error("a mask was restored from a body with a different structure")
	}
}

// Masking a body with many constants must be fast, because a client may send one repeatedly.
func TestMaskingManyConstantsIsFast(t *testing.T) {
	t.Parallel()
	body := `{"a": [` + strings.Repeat(`"x",`, 4_000) + `"x"]}`
	begin := time.Now()
	if back, err := unmaskBody("", maskBody("", body), body); err != nil || back != body {
		t.Errorf("restore body: %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("masking and restoring a body of 4,001 constants took %s", took)
	}
}

func FuzzMaskBody(f *testing.F) {
	for _, body := range []string{`{"a":"b","c":[1,{"d":"{{to}}"}]}`, `a=b&c={{to}}`, `<a>{{to}}</a>`, `{"a":"b"} x`,
		`[`, `"x"`} {
		for i := range 4 {
			f.Add(i, body)
		}
	}
	kinds := []string{"", "application/json", "application/x-www-form-urlencoded", "application/xml"}
	f.Fuzz(func(t *testing.T, kind int, body string) {
		contentType := kinds[uint(kind)%4]
		if _, err := provider.NewBody(contentType, body); err != nil || strings.Contains(body, "*") ||
			uint(kind)%4 < 2 && !json.Valid([]byte(body)) {
			return // never stored
		}
		masked := maskBody(contentType, body)
		if back, err := unmaskBody(contentType, masked, body); err != nil || back != body {
			t.Errorf("%q, masked as %q, is restored as %q, %v", body, masked, back, err)
		}
	})
}
