package session

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/signin/passkeys"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
)

type ceremonyAnswer struct {
	Options     map[string]any `json:"options" doc:"Options for navigator.credentials. Convert publicKey with PublicKeyCredential.parseRequestOptionsFromJSON or parseCreationOptionsFromJSON."`
	ChallengeID string         `json:"challenge_id" doc:"Send it with the credential within five minutes. It works once."`
}

type passkeyRecord struct {
	ID         string            `json:"id" doc:"The ID of the passkey." example:"psk_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name       string            `json:"name" doc:"A human-readable name." example:"Laptop"`
	CreatedAt  wire.Time         `json:"created_at" doc:"When the passkey was added."`
	LastUsedAt wire.OptionalTime `json:"last_used_at" doc:"When the passkey was last used; null if never."`
}

type passkeyAnswer struct {
	Passkey passkeyRecord `json:"passkey" doc:"The passkey."`
}

type passkeysAnswer struct {
	Passkeys []passkeyRecord `json:"passkeys" nullable:"false" doc:"The passkeys of the user."`
}

func newPasskeyRecord(p *ent.Passkey) passkeyRecord {
	return passkeyRecord{p.ID, p.Name, wire.Time(p.CreatedAt), wire.OptionalTime{At: p.LastUsedAt}}
}

const examplePasskey = "psk_01kf0m4w7he6x8q2v5b3n9c1ta"

func passkeyExample() map[string]any {
	return map[string]any{"id": examplePasskey, "name": "Laptop", "created_at": exampleTime, "last_used_at": nil}
}

func ceremonyExample(member map[string]any) map[string]any {
	return map[string]any{"options": map[string]any{"publicKey": member}, "challenge_id": "c2VhbGVk"}
}

var credentialExample = map[string]any{"id": "AQID", "rawId": "AQID", "type": "public-key",
	"response": map[string]any{"clientDataJSON": "e30", "authenticatorData": "AQID", "signature": "AQID", "userHandle": "AQID"}}

// written is a browser's response in a request body.
type written struct {
	challengeID string
	credential  map[string]any
	name        string
}

func (w written) toAnswer() passkeys.CeremonyResult {
	encoded, err := json.Marshal(w.credential)
	if err != nil { // it was decoded from JSON
		panic(fmt.Sprintf("a credential cannot be encoded: %v", err))
	}
	return passkeys.CeremonyResult{ChallengeID: w.challengeID, Credential: encoded, Name: w.name}
}

func credentialFields(in *written) []body.Field {
	return []body.Field{
		{Name: "challenge_id", Type: body.Text(&in.challengeID), Need: body.Required, About: "ID of the challenge from the options."},
		{Name: "credential", Type: body.AnyObject(&in.credential), Need: body.Required, About: "The result of navigator.credentials, converted with toJSON()."},
	}
}

func passkeyBody(in *written) body.Object {
	return body.Object{Name: "PasskeyAssertion", Fields: credentialFields(in)}
}

func newPasskeyBody(in *written) body.Object {
	name := body.Field{Name: "name", Type: body.Text(&in.name).Length(0, maxName),
		About: "A name that helps you recognize the passkey."}
	return body.Object{Name: "NewPasskey", Fields: append(credentialFields(in), name)}
}

var passkeyNoun = api.Noun{Name: "passkey", About: "ID of the passkey.", Example: examplePasskey,
	Is: func(word string) bool { return id.Is(id.Passkey, word) }}

func (e *edge) byPasskeys(g *api.TagGroup) {
	api.Handle(g, api.Operation{
		Method: http.MethodPost, Path: "/session/passkey/options", ID: "beginSignInByPasskey", Public: true,
		Problems: []int{http.StatusConflict},
		Summary:  "Start a passkey sign-in", Description: "Returns options: pass `options.publicKey` to " +
			"`navigator.credentials.get`. Fails with 409 if the base URL has no host name.",
		Example: ceremonyExample(map[string]any{"challenge": "AQID", "rpId": "mail.example.com", "timeout": 300000,
			"userVerification": "required"}),
	}, e.beginPasskey)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/session/passkey", ID: "signInByPasskey", Public: true,
		Problems: []int{http.StatusConflict},
		Summary:  "Sign in with a passkey", Description: "Signs in a user. A passkey counts as both factors, and " +
			"wrong passwords do not lock it.",
		Body: &api.Body{About: "The browser's response.",
			Examples: map[string]any{"passkey": map[string]any{"challenge_id": "c2VhbGVk",
				"credential": credentialExample}}},
		Example: enteredExample(),
	}, passkeyBody, e.byPasskey)
}

func (e *edge) addPasskeys(g *api.TagGroup) {
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/user/passkeys", ID: "listPasskeys", Needs: rights.Person,
		Summary: "List your passkeys", Description: "Lists your passkeys, oldest first; at most 20.",
		Example: map[string]any{"passkeys": []any{passkeyExample()}},
	}, e.listPasskeys)
	api.Handle(g, api.Operation{
		Method: http.MethodPost, Path: "/user/passkeys/options", ID: "beginPasskey", Needs: rights.Person,
		Confirmed: true, Quiet: true, Problems: []int{http.StatusConflict},
		Summary: "Start creating a passkey", Description: "Returns options: pass `options.publicKey` to " +
			"`navigator.credentials.create`. Fails with 409 if the user has 20 passkeys, or if the base URL has no host name.",
		Example: ceremonyExample(map[string]any{"challenge": "AQID", "rp": map[string]any{"id": "mail.example.com",
			"name": "Postrider"}, "user": map[string]any{"id": "AQID", "name": "ada@example.com", "displayName": "ada@example.com"}}),
	}, e.beginNewPasskey)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/user/passkeys", ID: "createPasskey", Needs: rights.Person, Confirmed: true,
		Audited: true, Problems: []int{http.StatusConflict},
		Summary: "Create a passkey",
		Description: "Stores the passkey that the browser created. This ends all other sessions and invalidates " +
			"all other links of the user.",
		Body: &api.Body{About: "The browser's response and a name for the passkey.",
			Examples: map[string]any{"laptop": map[string]any{"challenge_id": "c2VhbGVk", "name": "Laptop",
				"credential": map[string]any{"id": "AQID", "rawId": "AQID", "type": "public-key",
					"response": map[string]any{"clientDataJSON": "e30", "attestationObject": "AQID"}}}}},
		Example: map[string]any{"passkey": passkeyExample()},
	}, newPasskeyBody, e.addPasskey)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/user/passkeys/{id}", ID: "deletePasskey", Needs: rights.Person,
		Confirmed: true, Audited: true, Of: passkeyNoun, Problems: []int{http.StatusNotFound},
		Summary: "Remove a passkey",
		Description: "Removes a passkey, which can then no longer sign in. This ends all other sessions and " +
			"invalidates all other links of the user.", Example: map[string]any{"ok": true},
	}, e.removePasskey)
}

func asCeremony(c passkeys.Ceremony, err error) (out ceremonyAnswer, _ error) {
	if err != nil {
		return out, err
	}
	encoded, err := json.Marshal(c.Options)
	if err != nil {
		return out, err
	}
	out.ChallengeID = c.ChallengeID
	return out, json.Unmarshal(encoded, &out.Options)
}

func (e *edge) beginPasskey(context.Context, *api.Call, *api.None) (ceremonyAnswer, error) {
	return asCeremony(e.people.Passkeys().BeginSignIn())
}

func (e *edge) byPasskey(ctx context.Context, c *api.Call, _ *api.None, in written) (enteredAnswer, error) {
	entered, err := e.people.SignInByPasskey(ctx, in.toAnswer())
	return admitPerson(c, entered, err)
}

func (e *edge) beginNewPasskey(ctx context.Context, c *api.Call, _ *api.None) (ceremonyAnswer, error) {
	return asCeremony(e.people.Passkeys().BeginRegistration(ctx, c.Person.UserID))
}

func (e *edge) addPasskey(ctx context.Context, c *api.Call, _ *api.None, in written) (passkeyAnswer, error) {
	made, err := e.people.Passkeys().Add(ctx, c.Caller, in.toAnswer())
	if err != nil {
		return passkeyAnswer{}, err
	}
	return passkeyAnswer{newPasskeyRecord(made)}, nil
}

func (e *edge) listPasskeys(ctx context.Context, c *api.Call, _ *api.None) (passkeysAnswer, error) {
	list, err := e.people.Passkeys().List(ctx, c.Person.UserID)
	return passkeysAnswer{wire.ListOf(list, newPasskeyRecord)}, err
}

func (e *edge) removePasskey(ctx context.Context, c *api.Call, in *api.Item) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.people.Passkeys().Remove(ctx, c.Caller, in.ID)
}
