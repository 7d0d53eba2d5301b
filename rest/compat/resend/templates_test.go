package resend

import "testing"

func TestTemplateSyntax(t *testing.T) {
	t.Parallel()
	for theirs, ours := range map[string]string{
		"{{{NAME}}}":            "{{ NAME }}",
		"Hi {{{NAME|there}}}!":  `Hi {{ NAME | default: "there" }}!`,
		"{{{A}}}{{{B}}} {{ok}}": "{{ A }}{{ B }} {{ok}}",
		"{{{this.A}}}":          "{{ this.A }}",
		"no braces":             "no braces",
	} {
		if got := *ownSyntax(&theirs); got != ours {
			t.Errorf("ownSyntax(%q) = %q, want %q", theirs, got, ours)
		}
		if got := *theirSyntax(&ours); got != theirs {
			t.Errorf("theirSyntax(%q) = %q, want %q", ours, got, theirs)
		}
	}
	kept := `{{ price | money }} {% if a %}{{b}}{% endif %}`
	if got := *theirSyntax(&kept); got != kept {
		t.Errorf("theirSyntax(%q) = %q, want it unchanged", kept, got)
	}
}
