package wire

import (
	"github.com/postrider/postrider/runtime/mail/lint"
)

// Finding is a problem in the content of an email.
type Finding struct {
	Code     string         `json:"code" doc:"What was found. The page on sending emails lists the codes." example:"link_shortener"`
	Severity string         `json:"severity" enum:"error,warning,info" doc:"error: filters or recipients will see a broken or suspicious email. warning: some of them will. info: worth knowing."`
	Reason   string         `json:"reason" doc:"Why it matters."`
	Fix      string         `json:"fix" doc:"What to do."`
	Part     string         `json:"part" enum:"html,text,subject,header,message" doc:"The part of the email. message: the email as a whole."`
	Count    int            `json:"count" minimum:"1" doc:"Number of places."`
	Places   []FindingPlace `json:"places" nullable:"false" doc:"The first 10 places. Empty if the whole part is concerned."`
}

// FindingPlace is where a problem is.
type FindingPlace struct {
	Line    *int   `json:"line" doc:"Line in the part, from 1. null if unknown."`
	Element string `json:"element" doc:"The tag, URL, variable or header field, shortened to 160 characters."`
}

// Findings returns findings for a response.
func Findings(list []lint.Finding) []Finding {
	out := make([]Finding, 0, len(list))
	for _, f := range list {
		places := make([]FindingPlace, 0, len(f.Places))
		for _, p := range f.Places {
			place := FindingPlace{Element: p.Element}
			if p.Line > 0 {
				place.Line = &p.Line
			}
			places = append(places, place)
		}
		out = append(out, Finding{Code: f.Code, Severity: string(f.Severity), Reason: f.Reason, Fix: f.Fix,
			Part: string(f.Part), Count: f.Count, Places: places})
	}
	return out
}

// FindingExample is a finding of the examples in the OpenAPI document.
func FindingExample() map[string]any {
	return map[string]any{"code": "link_shortener", "severity": "warning",
		"reason": "Spammers hide targets with URL shorteners, so filters distrust their hosts.",
		"fix":    "Link to the target itself.", "part": "html", "count": 1,
		"places": []any{map[string]any{"line": 3, "element": "https://bit.ly/x"}}}
}
