package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

type addressRule struct {
	Match  string `json:"match" example:"support"`
	Action string `json:"action" enum:"accept,reject"`
}

type addressRules struct {
	Rules    []addressRule `json:"rules" nullable:"false" doc:"The first that matches decides."`
	CatchAll bool          `json:"catch_all" doc:"Whether an address that no rule matches is taken."`
}

type addressRulesAnswer struct {
	AddressRules addressRules `json:"address_rules"`
}

// rules registers the operations on the address rules of a domain.
func (e *receivedEdge) rules(a *API) {
	example := map[string]any{"rules": []any{map[string]any{"match": "support", "action": "accept"}, map[string]any{"match": "sales*", "action": "accept"}}, "catch_all": false}
	answer := map[string]any{"address_rules": example}
	register(a, operation{
		method: http.MethodGet, path: "/domains/{id}/address-rules", id: "getAddressRules", tag: tagReceived, needs: accounts.Read,
		summary: "Retrieve a domain's address rules", description: "Which addresses of the domain receive. A domain without rules takes mail for every address.",
		example: answer, problems: []int{http.StatusNotFound},
	}, e.getRules)
	register(a, operation{
		method: http.MethodPut, path: "/domains/{id}/address-rules", id: "putAddressRules", tag: tagReceived, needs: accounts.Write,
		summary: "Replace a domain's address rules",
		description: "The first rule that matches the part before the @ decides; `*` stands for any characters, and capitals do not matter. What is not taken is refused when it is brought " +
			"(`550 5.1.1`), so that senders learn it at once. `postmaster` is always taken. Other processes of the installation follow within seconds.",
		body:    &requestBody{description: "All rules.", schema: "AddressRulesInput", examples: map[string]any{"some": example, "all": map[string]any{"rules": []any{}, "catch_all": true}}},
		example: answer, problems: []int{http.StatusNotFound},
	}, e.putRules)
	longest, most := inbound.MaxMatch, inbound.MaxRules
	a.describeBody("AddressRulesInput", closed(map[string]*huma.Schema{
		"rules": {Type: huma.TypeArray, MaxItems: &most, Items: closed(map[string]*huma.Schema{
			"match":  {Type: huma.TypeString, MaxLength: &longest, Description: "The part before the @; * stands for any characters."},
			"action": {Type: huma.TypeString, Enum: []any{inbound.Accept, inbound.Reject}},
		}, "match", "action")},
		"catch_all": {Type: huma.TypeBoolean, Description: "Whether an address that no rule matches is taken."},
	}, "rules", "catch_all"))
}

func (e *receivedEdge) getRules(ctx context.Context, c *call, in *domainID) (*addressRulesAnswer, error) {
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	return rulesAnswer(e.mail.Rules(ctx, c.AccountID, in.ID))
}

func (e *receivedEdge) putRules(ctx context.Context, c *call, in *domainID) (*addressRulesAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	rules, err := decodeRules(body)
	if err != nil {
		return nil, err
	}
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	return rulesAnswer(e.mail.PutRules(ctx, c.AccountID, in.ID, rules))
}

func decodeRules(body value) (inbound.Rules, error) {
	d := newDecoder()
	d.refuseNull = true
	var r inbound.Rules
	given := map[string]bool{}
	d.object("", body, []field{
		{name: "rules", decode: func(path string, v value) {
			given["rules"] = true
			if !d.expect(path, v, kindArray) {
				return
			}
			for at, item := range d.items(path, v) {
				var rule shape.AddressRule
				d.object(at, item, []field{{name: "match", decode: d.into(&rule.Match)}, {name: "action", decode: d.into(&rule.Action)}})
				r.Rules = append(r.Rules, rule)
			}
		}},
		{name: "catch_all", decode: func(path string, v value) { given["catch_all"], r.CatchAll = true, d.boolean(path, v) }},
	})
	for _, name := range []string{"rules", "catch_all"} { // it replaces: what is left out must not be guessed
		if !given[name] {
			d.refuse(name, "is required")
		}
	}
	return r, d.wrong.Err()
}

func rulesAnswer(r inbound.Rules, err error) (*addressRulesAnswer, error) {
	if err != nil {
		return nil, err
	}
	out := addressRules{Rules: []addressRule{}, CatchAll: r.CatchAll}
	for _, rule := range r.Rules {
		out.Rules = append(out.Rules, addressRule(rule))
	}
	return &addressRulesAnswer{out}, nil
}
