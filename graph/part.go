package graph

import (
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/graph/schema"
)

// Parts are the services that resolve the fields of the schema. A service is nil if its module is off.
type Parts struct {
	Accounts          Accounts
	APIRequests       APIRequests
	AuditLog          AuditLog
	AutomationFigures AutomationFigures
	Automations       Automations
	Billing           Billing
	BillingWatch      BillingWatch
	Deliverability    Deliverability
	Desk              Desk
	Doctor            Doctor
	Domains           Domains
	Emails            Emails
	Engagements       Engagements
	EventLog          EventLog
	Lanes             Lanes
	Processes         Processes
	Queue             Queue
	RawMail           RawMail
	Received          Received
	Seeds             Seeds
	SMTPCredentials   SMTPCredentials
	Sources           Sources
	Statistics        Statistics
	Suppressions      Suppressions
	Teams             Teams
	Templates         Templates
	Usage             Usage
	Webhooks          Webhooks
	WholeQueue        WholeQueue
}

// ServiceSet sets the services of one module.
type ServiceSet struct {
	Module string
	Set    func(*Parts)
}

// missingParts returns an error for each enabled module that has fields in the schema but no part.
func missingParts(served *ast.Schema, on []string, given []ServiceSet) (missing []error) {
	have := map[string]bool{}
	for _, p := range given {
		have[p.Module] = true
	}
	for _, module := range schema.Modules(served) {
		if slices.Contains(on, module) && !have[module] {
			missing = append(missing,
				fmt.Errorf("graph: module %s is enabled and has fields in the schema, but no services", module))
		}
	}
	return missing
}
