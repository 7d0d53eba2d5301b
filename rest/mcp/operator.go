package mcp

import (
	"context"
	"fmt"
)

// healthFinding is a problem that needs attention.
type healthFinding struct {
	Code      string  `json:"code"`
	Level     string  `json:"level" jsonschema:"ERROR, WARNING or NOTICE"`
	Found     string  `json:"found"`
	Expected  string  `json:"expected"`
	Do        string  `json:"do"`
	SubjectID *string `json:"subject_id"`
}

type noInput struct{}

type installationOutput struct {
	Installation []healthFinding `json:"installation" jsonschema:"Findings of postrider doctor, most severe first"`
	Account      []healthFinding `json:"account" jsonschema:"Findings about the account of the operator"`
}

var healthDocument = newDocument(`query MCPHealth {
  health {
    account: findings { code level found expected do subject_id: subjectId }
    installation { code level found expected do subject_id: subjectId }
  }
}`)

func operatorTools() []tool {
	return []tool{
		define(spec{name: "installation_health", title: "Check the installation", effect: reads, operators: true,
			fields: []string{"health"}, about: "Returns problems of the installation that need an operator, most severe first."},
			func(ctx context.Context, s *session, _ noInput) (installationOutput, string, error) {
				var graph struct {
					Health installationOutput `json:"health"`
				}
				if err := s.queryGraph(ctx, healthDocument, map[string]any{}, &graph); err != nil {
					return installationOutput{}, "", err
				}
				return graph.Health, fmt.Sprintf("%d problems of the installation, %d of the account.",
					len(graph.Health.Installation), len(graph.Health.Account)), nil
			}),
	}
}
