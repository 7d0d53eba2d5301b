package describe

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// program is a command line with a list of IDs and a command that takes one.
type program struct {
	Emails struct {
		List struct {
			Quiet bool `help:"Print IDs only."`
		} `cmd:"" help:"List emails."`
		Get struct {
			JSON bool   `help:"Print JSON." name:"json"`
			ID   string `arg:"" help:"ID of the email."`
		} `cmd:"" help:"Print an email."`
	} `cmd:"" help:"Emails."`
	Smarthost struct {
		List   struct{} `cmd:"" help:"List smarthosts."`
		Delete struct {
			ID string `arg:"" help:"ID of the smarthost."`
		} `cmd:"" help:"Delete a smarthost."`
	} `cmd:"" help:"Smarthosts."`
}

func completionOf(t *testing.T, shell string) string {
	t.Helper()
	parser, err := kong.New(&program{}, kong.Name("postrider"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := Completion(parser.Model.Node, shell)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// Bash completes IDs with the list of the same noun, and never runs what the server returned.
func TestBashCompletesIDs(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	const postrider = `postrider() { [ "$*" = "emails list --quiet" ] && printf '%s\n' msg_1 msg_2 'inb_$(ran)'; }` + "\n"
	for words, want := range map[string]string{
		"postrider emails get ":         "--help --json msg_1 msg_2 inb_$(ran)",
		"postrider emails get msg_2":    "msg_2",
		"postrider emails get --j":      "--json",
		"postrider emails list ":        "--help --quiet",
		"postrider smarthost delete ":   "--help",
		"postrider emails get inb_":     "inb_$(ran)",
		"postrider smarthost delete m":  "",
		"postrider emails get nothing_": "",
	} {
		parts := strings.Split(words, " ")
		script := completionOf(t, "bash") + postrider + `COMP_WORDS=('` + strings.Join(parts, "' '") + `'); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _postrider; printf '%s' "${COMPREPLY[*]}"`
		got, err := exec.CommandContext(t.Context(), bash, "-c", script).Output()
		if err != nil || string(got) != want {
			t.Errorf("%q is completed by %q (%v), want %q", words, got, err, want)
		}
	}
}

func TestOtherShellsCompleteIDs(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]string{
		"zsh":  `${(f)"$(postrider emails list --quiet 2>/dev/null)"}`,
		"fish": `complete -c postrider -n "__postrider_at 'postrider emails get'" -f -a '(postrider emails list --quiet 2>/dev/null)'`,
	} {
		if script := completionOf(t, shell); strings.Count(script, "list --quiet") != 1 || !strings.Contains(script, want) {
			t.Errorf("the script for %s lacks %s", shell, want)
		}
	}
}
