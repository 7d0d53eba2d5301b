package model

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/figures"
)

// Automation is an automation on the page that it was read with.
type Automation struct {
	*ent.Automation

	Page *AutomationPage
}

// AutomationPage returns the statistics of the automations of one page, by automation ID. Each function
// loads them once for all automations and each argument.
type AutomationPage struct {
	Figures func() (map[string]*figures.Figures, error)
	Emails  func(version int) (map[string]*figures.ByStep, error)
	Tracked bool // opens and clicks are counted
}

// AutomationStep is a step of a draft.
type AutomationStep struct {
	Index     int
	Key, Type string
	Name      *string
	Summary   string

	Of *Automation
}

// AutomationStepStats are the statistics of a step.
type AutomationStepStats struct {
	figures.StepFigures

	At      *AutomationStep
	Version int // 0: all
}

// AutomationRun is a run on the page that it was read with.
type AutomationRun struct {
	*ent.AutomationRun

	Page *AutomationRunPage
}

// AutomationRunPage returns the related data of the runs of one page, by run ID. Each function loads it
// once for all of them.
type AutomationRunPage struct {
	Details func() (map[string]automations.RunDetail, error)
	Emails  func() (map[string][]*Email, error)
}

// AutomationVersion is a version of an automation on the page that it was read with.
type AutomationVersion struct {
	*ent.AutomationVersion

	// Authors returns the display names of the authors of all versions of the page, by ID, and loads them once.
	Authors func() (map[string]string, error)
}
