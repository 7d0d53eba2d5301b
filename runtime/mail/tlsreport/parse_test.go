package tlsreport

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/reportfile"
)

func gzipped(t testing.TB, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t testing.TB, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.Create("report.json")
	if err == nil {
		_, err = f.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The rows of each sender's report are the sums that an independent program computed, in every packaging.
func TestSumsMatchIndependentProgram(t *testing.T) {
	t.Parallel()
	var want map[string]struct {
		Organization, ID string
		Rows             map[string]int64
	}
	text, err := os.ReadFile("testdata/sums.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil || len(want) != 3 {
		t.Fatalf("sums.json has %d reports, error %v", len(want), err)
	}
	for name, want := range want {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for packaging, file := range map[string][]byte{"plain": file, "gzip": gzipped(t, file), "zip": zipped(t, file),
			"byte order mark": append([]byte("\xef\xbb\xbf"), file...)} {
			report, err := Parse(file)
			rows := map[string]int64{}
			for _, row := range report.Rows {
				rows[row.Policy+" "+row.Result] += row.Sessions
			}
			if err != nil || report.Organization != want.Organization || report.ID != want.ID || !maps.Equal(rows, want.Rows) ||
				fmt.Sprint(report.Domains) != "[example.com]" {
				t.Errorf("%s, %s: got %+v, error %v, want %+v", name, packaging, report, err, want)
			}
		}
	}
}

// The stored reports and sums are those that the independent program writes.
func TestSumsAreThoseOfIndependentProgram(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed; the sums are compared with those it wrote before")
	}
	program, err := filepath.Abs("testdata/make.py")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, program)
	command.Dir = t.TempDir()
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make.py: %v\n%s", err, output)
	}
	for _, name := range []string{"google.json", "microsoft.json", "plain.json", "sums.json"} {
		got, err := os.ReadFile(filepath.Join(command.Dir, name))
		want, storedErr := os.ReadFile(filepath.Join("testdata", name))
		if err != nil || storedErr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what make.py writes (%v, %v)", name, err, storedErr)
		}
	}
}

const valid = `{"organization-name":"Example","report-id":"1","date-range":{"start-datetime":"2026-11-27T00:00:00Z",` +
	`"end-datetime":"2026-11-28T00:00:00Z"},"policies":[{"policy":{"policy-type":"sts","policy-domain":"Example.COM."},` +
	`"summary":{"total-successful-session-count":2,"total-failure-session-count":1},` +
	`"failure-details":[{"result-type":"certificate-expired","failed-session-count":1}]}]}`

func TestRefusesHostileReports(t *testing.T) {
	t.Parallel()
	edit := func(from, to string) []byte {
		if !strings.Contains(valid, from) {
			t.Fatalf("the report does not contain %s", from)
		}
		return []byte(strings.Replace(valid, from, to, 1))
	}
	if report, err := Parse([]byte(valid)); err != nil || fmt.Sprint(report.Domains, report.Rows) !=
		"[example.com] [{{sts certificate-expired} 1} {{sts failed} 1} {{sts successful} 2}]" {
		t.Fatalf("the valid report is %+v, error %v", report, err)
	}
	list := func(element string, n int) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	failure := `{"result-type":"certificate-expired","failed-session-count":1}`
	policy := valid[strings.Index(valid, `{"policy"`) : len(valid)-2]
	for name, c := range map[string]struct {
		file []byte
		want reportfile.Reason
	}{
		"gzip bomb":          {gzipped(t, bytes.Repeat([]byte(" "), reportfile.MaxText+1)), reportfile.TooLarge},
		"too much JSON":      {gzipped(t, append([]byte(valid), bytes.Repeat([]byte(" "), MaxJSON)...)), reportfile.TooLarge},
		"file too large":     {bytes.Repeat([]byte("{"), reportfile.MaxFile+1), reportfile.TooLarge},
		"too many policies":  {edit(policy, list(policy, MaxPolicies+1)), reportfile.TooMany},
		"too many failures":  {edit(failure, list(failure, MaxFailures+1)), reportfile.TooMany},
		"gzip in gzip":       {gzipped(t, gzipped(t, []byte(valid))), reportfile.BadArchive},
		"truncated gzip":     {gzipped(t, []byte(valid))[:90], reportfile.BadArchive},
		"truncated JSON":     {[]byte(valid[:200]), reportfile.Malformed},
		"text after JSON":    {[]byte(valid + "x"), reportfile.Malformed},
		"deep nesting":       {[]byte(`{"policies":` + strings.Repeat("[", 100_000)), reportfile.Malformed},
		"HTML":               {[]byte("<html></html>"), reportfile.Malformed},
		"empty":              {nil, reportfile.Malformed},
		"no organization":    {edit(`"Example"`, `null`), reportfile.Incomplete},
		"blank report id":    {edit(`"1"`, `"\u0000 "`), reportfile.Incomplete},
		"long report id":     {edit(`"1"`, `"`+strings.Repeat("x", maxText+1)+`"`), reportfile.InvalidValue},
		"no period":          {edit(`"date-range"`, `"range"`), reportfile.Incomplete},
		"no time":            {edit("2026-11-27T00:00:00Z", "yesterday"), reportfile.InvalidValue},
		"empty period":       {edit("2026-11-27T", "2026-11-28T"), reportfile.InvalidValue},
		"period too long":    {edit("2026-11-27T", "2026-11-01T"), reportfile.InvalidValue},
		"no policy":          {edit(policy, ""), reportfile.Incomplete},
		"policies no list":   {edit("["+policy+"]", "{}"), reportfile.InvalidValue},
		"policy no object":   {edit(policy, `"sts"`), reportfile.InvalidValue},
		"no domain":          {edit(`"Example.COM."`, `""`), reportfile.Incomplete},
		"no summary":         {edit(`"summary"`, `"total"`), reportfile.Incomplete},
		"negative count":     {edit(`session-count":2`, `session-count":-2`), reportfile.InvalidValue},
		"fraction":           {edit(`session-count":2`, `session-count":2.5`), reportfile.InvalidValue},
		"huge count":         {edit(`session-count":2`, `session-count":9223372036854775807`), reportfile.InvalidValue},
		"count is a word":    {edit(`session-count":2`, `session-count":"two"`), reportfile.InvalidValue},
		"failure not typed":  {edit(`"certificate-expired"`, `""`), reportfile.Incomplete},
		"failures no list":   {edit("["+failure+"]", `"none"`), reportfile.InvalidValue},
		"organization a map": {edit(`"Example"`, `{}`), reportfile.InvalidValue},
	} {
		report, err := Parse(c.file)
		if err == nil || reportfile.ReasonOf(err) != c.want || report.Rows != nil {
			t.Errorf("%s: got %+v, error %v, want %s", name, report, err, c.want)
		}
	}
}

// The memory that the process holds does not grow by more than the limit.
func TestHostileReportsCostBoundedMemory(t *testing.T) { //nolint:paralleltest // measures the memory of the process
	within := func(element string) string {
		return strings.TrimSuffix(strings.Repeat(element+",", (MaxJSON-4096)/(len(element)+1)), ",")
	}
	failures := `"failure-details":[`
	for name, text := range map[string]string{
		"empty policies":  strings.Replace(valid, `"policies":[`, `"policies":[`+within("{}")+`,`, 1),
		"empty failures":  strings.Replace(valid, failures, failures+within("{}")+`,`, 1),
		"nested policies": strings.Replace(valid, `"policies":[`, `"policies":[`+within("[[[]]]")+`,`, 1),
		"unknown fields":  strings.Replace(valid, `{"policy":`, `{"x":[`+within(`{"a":1}`)+`],"policy":`, 1),
		"a long text":     strings.Replace(valid, "Example", strings.Repeat("x", MaxJSON-4096), 1),
	} {
		file := gzipped(t, []byte(text))
		debug.FreeOSMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(file)
		runtime.ReadMemStats(&after)
		if len(file) > reportfile.MaxFile || len(text) > MaxJSON {
			t.Fatalf("%s: the file has %d bytes, and the text %d", name, len(file), len(text))
		}
		if used := int64(after.HeapSys-after.HeapReleased) - int64(before.HeapSys-before.HeapReleased); used > MemoryToParse {
			t.Errorf("%s: the heap grew by %d MB, want at most %d (error %v)", name, used>>20, MemoryToParse>>20, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"google.json", "microsoft.json", "plain.json"} {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		f.Add(gzipped(f, file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		report, err := Parse(file)
		if err != nil && reportfile.ReasonOf(err) == "" {
			t.Errorf("the error %v has no reason", err)
		}
		if err == nil && (report.ID == "" || len(report.Domains) == 0 || !report.End.After(report.Begin)) {
			t.Errorf("accepted an incomplete report: %+v", report)
		}
	})
}
