package dmarcreport

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/reportfile"
)

// expected are the sums that testdata/make.py computed.
type expected struct {
	Organization, ID           string
	Begin, End                 int64
	Messages, DMARC, DKIM, SPF int64
	Sources, Dispositions      map[string]int64
}

func sumsOf(r Report) expected {
	e := expected{Organization: r.Organization, ID: r.ID, Begin: r.Begin.Unix(), End: r.End.Unix(),
		Messages: r.Messages(), Sources: map[string]int64{}, Dispositions: map[string]int64{}}
	for _, row := range r.Rows {
		e.Sources[row.Source.String()] += row.Messages
		e.Dispositions[row.Disposition] += row.Messages
		for sum, counts := range map[*int64]bool{&e.DMARC: row.PassesDMARC(), &e.DKIM: row.DKIM, &e.SPF: row.SPF} {
			if counts {
				*sum += row.Messages
			}
		}
	}
	return e
}

func zipped(t testing.TB, files ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i, file := range files {
		f, err := w.Create(fmt.Sprintf("report-%d.xml", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

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

// The sums of each receiver's report are those that an independent program computed, in every packaging.
func TestSumsMatchIndependentProgram(t *testing.T) {
	t.Parallel()
	var want map[string]expected
	text, err := os.ReadFile("testdata/sums.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil || len(want) != 6 {
		t.Fatalf("read %d sums: %v", len(want), err)
	}
	for name, sums := range want {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for packaging, packed := range map[string][]byte{"plain": file, "zip": zipped(t, file), "gzip": gzipped(t, file),
			"mark": append([]byte("\xef\xbb\xbf\r\n"), file...)} {
			report, err := Parse(packed)
			got := sumsOf(report)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(sums) || report.Domain != "example.com" {
				t.Errorf("%s (%s): got %+v, error %v, want %+v", name, packaging, got, err, sums)
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
	written, err := filepath.Glob(filepath.Join(command.Dir, "*"))
	if err != nil || len(written) != 7 {
		t.Fatalf("make.py wrote %q (%v), want six reports and their sums", written, err)
	}
	for _, name := range written {
		got, err := os.ReadFile(name)
		want, storedErr := os.ReadFile(filepath.Join("testdata", filepath.Base(name)))
		if err != nil || storedErr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what make.py writes (%v, %v)", filepath.Base(name), err, storedErr)
		}
	}
}

const (
	opening = `<feedback><report_metadata><org_name>Example</org_name><report_id>1</report_id><date_range><begin>1795651200</begin>` +
		`<end>1795737600</end></date_range></report_metadata><policy_published><domain>example.com</domain><p>none</p></policy_published>`
	closing = `</feedback>`
)

func recordOf(source, count string) string {
	return `<record><row><source_ip>` + source + `</source_ip><count>` + count + `</count><policy_evaluated>` +
		`<dkim>pass</dkim><spf>fail</spf></policy_evaluated></row></record>`
}

func TestRefusesHostileReports(t *testing.T) {
	t.Parallel()
	valid := opening + recordOf("192.0.2.1", "1") + closing
	million := strings.Repeat(recordOf("::1", "1"), 1_000_000)
	var manyRows strings.Builder
	for i := range MaxRows + 1 {
		manyRows.WriteString(recordOf(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), "1"))
	}
	bomb := bytes.Repeat([]byte(" "), reportfile.MaxText+1)
	deep := strings.Repeat("<a>", 100_000)
	for name, c := range map[string]struct {
		file []byte
		want reportfile.Reason
	}{
		"zip bomb":           {zipped(t, bomb), reportfile.TooLarge},
		"gzip bomb":          {gzipped(t, bomb), reportfile.TooLarge},
		"file too large":     {bytes.Repeat([]byte("<"), reportfile.MaxFile+1), reportfile.TooLarge},
		"a million records":  {gzipped(t, []byte(opening+million+closing)), reportfile.TooMany},
		"too many rows":      {gzipped(t, []byte(opening+manyRows.String()+closing)), reportfile.TooMany},
		"nested zip":         {zipped(t, zipped(t, []byte(valid))), reportfile.BadArchive},
		"zip in gzip":        {gzipped(t, zipped(t, []byte(valid))), reportfile.BadArchive},
		"gzip in gzip":       {gzipped(t, gzipped(t, []byte(valid))), reportfile.BadArchive},
		"two files":          {zipped(t, []byte(valid), []byte(valid)), reportfile.BadArchive},
		"empty archive":      {zipped(t), reportfile.Malformed},
		"truncated zip":      {zipped(t, []byte(valid))[:60], reportfile.BadArchive},
		"truncated gzip":     {gzipped(t, []byte(valid))[:90], reportfile.BadArchive},
		"entity declaration": {[]byte(`<!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>` + valid), reportfile.Doctype},
		"external entity":    {[]byte(`<?xml version="1.0"?><!DOCTYPE f SYSTEM "file:///etc/passwd">` + valid), reportfile.Doctype},
		"undeclared entity":  {[]byte(strings.Replace(valid, "Example", "&a;", 1)), reportfile.Malformed},
		"deep nesting":       {[]byte("<feedback>" + deep), reportfile.Malformed},
		"HTML page":          {[]byte("<html><body>hello</body></html>"), reportfile.Malformed},
		"truncated document": {[]byte(opening), reportfile.Malformed},
		"wrong end tag":      {[]byte("<feedback><a></b></feedback>"), reportfile.Malformed},
		"unknown charset":    {[]byte(`<?xml version="1.0" encoding="ebcdic"?>` + valid), reportfile.Malformed},
		"empty":              {nil, reportfile.Incomplete},
		"no organization":    {[]byte(strings.Replace(valid, "<org_name>Example</org_name>", "", 1)), reportfile.Incomplete},
		"blank report id":    {[]byte(strings.Replace(valid, "<report_id>1<", "<report_id> <", 1)), reportfile.Incomplete},
		"long report id": {[]byte(strings.Replace(valid, "<report_id>1<", "<report_id>"+strings.Repeat("1", 513)+"<", 1)),
			reportfile.InvalidValue},
		"negative count":  {[]byte(opening + recordOf("192.0.2.1", "-1") + closing), reportfile.InvalidValue},
		"huge count":      {[]byte(opening + recordOf("192.0.2.1", "9223372036854775807") + closing), reportfile.InvalidValue},
		"no address":      {[]byte(opening + recordOf("mail.example", "1") + closing), reportfile.InvalidValue},
		"address zone":    {[]byte(opening + recordOf("fe80::1%eth0", "1") + closing), reportfile.InvalidValue},
		"empty period":    {[]byte(strings.Replace(valid, "1795737600", "1795651200", 1)), reportfile.InvalidValue},
		"period too long": {[]byte(strings.Replace(valid, "1795737600", "1805737600", 1)), reportfile.InvalidValue},
		"no time":         {[]byte(strings.Replace(valid, "1795737600", "tomorrow", 1)), reportfile.InvalidValue},
	} {
		report, err := Parse(c.file)
		if err == nil || reportfile.ReasonOf(err) != c.want || report.Rows != nil {
			t.Errorf("%s: got error %v and %d rows, want the reason %s and none", name, err, len(report.Rows), c.want)
		}
	}
	if report, err := Parse([]byte(valid)); err != nil || report.Messages() != 1 {
		t.Errorf("the valid report has %d messages, error %v", report.Messages(), err)
	}
}

// hostileFiles returns files that would take up much memory without the limits. They are compressed without holding
// their contents.
func hostileFiles(t *testing.T) map[string]struct {
	file []byte
	want reportfile.Reason
} {
	t.Helper()
	compress := func(parts ...io.Reader) []byte {
		var file bytes.Buffer
		w := gzip.NewWriter(&file)
		if _, err := io.Copy(w, io.MultiReader(parts...)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if file.Len() > reportfile.MaxFile {
			t.Fatalf("the file has %d bytes, more than a report file may have", file.Len())
		}
		return file.Bytes()
	}
	text := func(s string) io.Reader { return strings.NewReader(s) }
	long := func() io.Reader { return io.LimitReader(endless('a'), reportfile.MaxText-4096) }
	var entities strings.Builder
	entities.WriteString(`<!DOCTYPE f [<!ENTITY a0 "aaaaaaaaaa">`)
	for i := range 20 {
		fmt.Fprintf(&entities, `<!ENTITY a%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&a%d;", i), 10))
	}
	return map[string]struct {
		file []byte
		want reportfile.Reason
	}{
		"a bomb of 64 MB": {compress(text(opening+"<x>"), io.LimitReader(endless('a'), 64<<20)), reportfile.TooLarge},
		"a million records": {compress(text(opening), &repeated{text: recordOf("::1", "1"), left: 1_000_000},
			text(closing)), reportfile.TooMany},
		"many rows":        {compress(text(opening), &repeated{left: 500_000}, text(closing)), reportfile.TooMany},
		"entity expansion": {compress(text(entities.String() + "]>" + strings.Replace(opening, "Example", "&a20;", 1) + closing)), reportfile.Doctype},
		"a long text":      {compress(text(opening+"<x>"), long(), text("</x></y>")), reportfile.TooLarge},
		"a long attribute": {compress(text(opening+`<x y="`), long(), text(`"></y>`)), reportfile.TooLarge},
		"a long comment":   {compress(text(opening+"<!--"), long(), text("--></y>")), reportfile.TooLarge},
		"a long name":      {compress(text(opening+"<"), long(), text("></y>")), reportfile.TooLarge},
		"many elements":    {compress(text(opening), &repeated{text: "<a/>", left: reportfile.MaxText / 5}, text("</y>")), reportfile.Malformed},
		"deep nesting":     {compress(&repeated{text: "<feedback>", left: reportfile.MaxText / 11}), reportfile.Malformed},
	}
}

// The memory that the process holds does not grow by more than the limit.
func TestHostileReportsCostBoundedMemory(t *testing.T) { //nolint:paralleltest // measures the memory of the process
	for name, c := range hostileFiles(t) {
		debug.FreeOSMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(c.file)
		runtime.ReadMemStats(&after)
		if reportfile.ReasonOf(err) != c.want || err == nil {
			t.Errorf("%s: the error is %v, want %s", name, err, c.want)
		}
		if used := int64(after.HeapSys-after.HeapReleased) - int64(before.HeapSys-before.HeapReleased); used > MemoryToParse {
			t.Errorf("%s: the heap grew by %d MB, want at most %d", name, used>>20, MemoryToParse>>20)
		}
	}
}

// repeated reads a text, or if it is empty, records with distinct sources, a number of times.
type repeated struct {
	text string
	left int
	rest string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.left == 0 {
			return 0, io.EOF
		}
		if r.rest = r.text; r.rest == "" {
			r.rest = recordOf(fmt.Sprintf("10.%d.%d.%d", r.left>>16, r.left>>8&255, r.left&255), "1")
		}
		r.left--
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

type endless byte

func (b endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// Text from a stranger stays text: tags in CDATA and character references are kept, control characters are not.
func TestTextIsDataOnOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<![CDATA[<script>alert(1)</script>]]>":        "<script>alert(1)</script>",
		"&lt;img src=x onerror=alert(1)&gt;":           "<img src=x onerror=alert(1)>",
		"A&#10;B&#x202e;C":                             "A B C",
		strings.Repeat("x", maxText) + "more":          strings.Repeat("x", maxText),
		"<!-- comment -->Example<!-- another --> Inc.": "Example Inc.",
	} {
		report, err := Parse([]byte(strings.Replace(opening, "Example", in, 1) + recordOf("192.0.2.1", "1") + closing))
		if err != nil || report.Organization != want {
			t.Errorf("%.40q: got %.80q, error %v, want %.80q", in, report.Organization, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	names, err := filepath.Glob("testdata/*.xml")
	if err != nil || len(names) != 6 {
		f.Fatalf("found %d reports, error %v", len(names), err)
	}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		f.Add(gzipped(f, file))
		f.Add(zipped(f, file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		report, err := Parse(file)
		if err != nil && reportfile.ReasonOf(err) == "" {
			t.Errorf("the error %v has no reason", err)
		}
		if err == nil && (report.ID == "" || report.Domain == "" || report.Messages() < 0 || !report.End.After(report.Begin)) {
			t.Errorf("accepted an incomplete report: %+v", report)
		}
	})
}
