package webhooksig_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// helper is a language of WEBHOOKS.md: the command that runs it, and a program around the function that reads
// the vectors' file and prints a list of booleans as JSON.
type helper struct {
	fence, program string
	file           string
	before, after  string
	arguments      []string
}

var helpers = []helper{
	{fence: "go", program: "go", file: "main.go", arguments: []string{"run"},
		before: "package main\n\nimport (\n\"crypto/hmac\"\n\"crypto/sha256\"\n\"encoding/hex\"\n\"encoding/json\"\n\"os\"\n\"strconv\"\n\"strings\"\n)\n\n",
		after: `
func main() {
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var vectors []struct { Secret, Header, Body string; Now int64 }
	if err := json.Unmarshal(file, &vectors); err != nil {
		panic(err)
	}
	var verdicts []bool
	for _, v := range vectors {
		verdicts = append(verdicts, Verify([]byte(v.Body), v.Header, v.Secret, v.Now))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		panic(err)
	}
}
`},
	{fence: "js", program: "node", file: "main.mjs", after: `
import { readFileSync } from 'node:fs'
const vectors = JSON.parse(readFileSync(process.argv[2], 'utf8'))
console.log(JSON.stringify(vectors.map((v) => verify(Buffer.from(v.body), v.header, v.secret, v.now))))
`},
	{fence: "python", program: "python3", file: "main.py", after: `

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    vectors = json.load(file)
print(json.dumps([verify(v["body"].encode(), v["header"], v["secret"], v["now"]) for v in vectors]))
`},
	{fence: "php", program: "php", file: "main.php", before: "<?php\n", after: `
$vectors = json_decode(file_get_contents($argv[1]), true);
echo json_encode(array_map(fn ($v) => verify($v['body'], $v['header'], $v['secret'], $v['now']), $vectors));
`},
	{fence: "ruby", program: "ruby", file: "main.rb", after: `

require "json"
vectors = JSON.parse(File.read(ARGV[0], encoding: "utf-8"))
puts JSON.generate(vectors.map { |v| verify(v["body"], v["header"], v["secret"], v["now"]) })
`},
}

// The functions of WEBHOOKS.md, unchanged. Languages that are not installed on this machine are logged; Go always
// is.
func TestDocumentedWebhookHelpers(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../../WEBHOOKS.md")
	if err != nil {
		t.Fatal(err)
	}
	given, err := filepath.Abs("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var ran, missing []string
	for _, h := range helpers {
		block := regexp.MustCompile("(?s)\n```"+h.fence+" tested\n(.*?)```\n").FindAllSubmatch(document, -1)
		if len(block) != 1 {
			t.Errorf("WEBHOOKS.md has %d code blocks in %s, want one", len(block), h.fence)
			continue
		}
		path, err := exec.LookPath(h.program)
		if err != nil {
			missing = append(missing, h.program)
			continue
		}
		ran = append(ran, h.program)
		t.Run(h.program, func(t *testing.T) {
			t.Parallel()
			source := filepath.Join(t.TempDir(), h.file)
			if err := os.WriteFile(source, []byte(h.before+string(block[0][1])+h.after), 0o600); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			command := exec.CommandContext(t.Context(), path, append(h.arguments, source, given)...)
			command.Stderr = &stderr
			out, err := command.Output()
			if err != nil {
				t.Fatalf("the helper failed: %v\n%s", err, &stderr)
			}
			var verdicts []bool
			if err := json.Unmarshal(out, &verdicts); err != nil {
				t.Fatalf("the helper did not print a list of verdicts: %v: %s", err, out)
			}
			all := vectors()
			if len(verdicts) != len(all) {
				t.Fatalf("got %d verdicts for %d vectors", len(verdicts), len(all))
			}
			for i, v := range all {
				if verdicts[i] != v.Valid {
					t.Errorf("%s: got %t, want %t", v.Name, verdicts[i], v.Valid)
				}
			}
		})
	}
	t.Logf("run with: %s", strings.Join(ran, ", "))
	if len(missing) > 0 {
		t.Logf("NOT RUN, not on this machine: %s", strings.Join(missing, ", "))
	}
	if len(ran) == 0 {
		t.Error("no language was run")
	}
}
