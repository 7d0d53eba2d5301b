// Written by `npm run codegen`; do not edit.

export interface components {
  schemas: {
    APIRequestList: { has_more: boolean; next_cursor: string | null; requests: (components['schemas']["Record"])[] }
    AcceptInvitation: { name?: string | null; password?: string | null; token: string }
    AccountAnswer: { account: components['schemas']["AccountRecord"] }
    AccountLimits: { daily_bytes: number | null; daily_emails: number | null; domains: number; monthly_emails: number | null; requests_per_second: number; stored_bytes: number | null }
    AccountPlan: { id: string; name: string }
    AccountRateExceededEvent: { created_at: string; data: components['schemas']["ExceededRatePayload"]; mode?: "test"; type: "account.rate_exceeded" }
    AccountRecord: { body_retention_days: number; created_at: string; email: string; id: string; limits: components['schemas']["AccountLimits"]; name: string; payment_method: boolean; plan: components['schemas']["AccountPlan"]; production_unlocked: boolean; record_retention_days: number; require_second_factor: boolean; suspended: boolean; updated_at: string; usage: components['schemas']["AccountUsage"] }
    AccountUsage: { daily_bytes: number | null; daily_bytes_cap: number | null; daily_cap: number | null; day: number; day_resets_at: string; month: number; month_resets_at: string; monthly_cap: number | null; stored_bytes: number | null; stored_bytes_cap: number | null }
    AccountUsageReachedEvent: { created_at: string; data: components['schemas']["ReachedUsagePayload"]; mode?: "test"; type: "account.usage_reached" }
    ActionAnswer: { automation: components['schemas']["AutomationRecord"]; cancelling_runs?: number; held_runs?: number }
    ActivateTOTP: { code: string }
    AddDomain: { inbound_enabled?: boolean | null; name: string }
    AddPaymentMethod: { return_path?: string | null }
    AddSuppression: { email: string; email_id?: string | null }
    AddSuppressions: { emails: (string)[] }
    AddTemplate: { alias?: string | null; category?: string | null; from?: (components['schemas']["Mailbox"]) | (null); html?: string | null; kind?: "template" | "layout" | "partial" | null; name: string; reply_to?: (components['schemas']["Mailboxes"]) | (null); subject?: string | null; text?: string | null; translations?: (components['schemas']["TemplateTranslationInput"])[] | null; unsubscribe_enabled?: boolean | null; variables?: (components['schemas']["TemplateVariableInput"])[] | null }
    AddTemplateImage: { content: string; name?: string | null }
    AddressRule: { action: "accept" | "reject"; match: string }
    AddressRuleInput: { action: "accept" | "reject"; match: string }
    AddressRules: { catch_all: boolean; rules: (components['schemas']["AddressRule"])[] }
    AddressRulesAnswer: { address_rules: components['schemas']["AddressRules"] }
    AddressRulesInput: { catch_all: boolean; rules: (components['schemas']["AddressRuleInput"])[] }
    AlertsChange: { deliverability?: boolean; domains?: boolean; rates?: boolean; usage?: boolean; webhooks?: boolean }
    AlertsRecord: { deliverability: boolean; domains: boolean; rates: boolean; usage: boolean; webhooks: boolean }
    Answer: { request: components['schemas']["Record"] }
    ApiKeyList: { api_keys: (components['schemas']["KeyRecord"])[]; has_more: boolean; next_cursor: string | null }
    ApplyDNSRecords: { credentials: Record<string, string>; dmarc_record?: string | null; dry_run?: boolean | null; provider: "cloudflare" | "digitalocean" | "gandi" | "hetzner" | "ovh" | "rfc2136" | "route53" }
    AttachmentInfoPayload: { content_type: string; filename: string; size: number }
    AttachmentInput: { content_id?: string | null; content_type?: string | null; data: string; name?: string | null }
    AttachmentLink: { content_id: string | null; content_type: string; download_url: string; expires_at: string; index: number; name: string; size: number }
    AttachmentLinkAnswer: { attachment: components['schemas']["AttachmentLink"] }
    AttachmentRecord: { content_id: string | null; content_type: string; name: string; size: number }
    AttemptList: { attempts: (components['schemas']["AttemptRecord"])[]; has_more: boolean; next_cursor: string | null }
    AttemptRecord: { class: string | null; code: number | null; enhanced_code: string | null; finished_at: string | null; local_addr: string | null; number: number; outcome: "delivered" | "deferred" | "bounced" | "failed" | "unknown" | "not_started" | null; phase: string | null; recipient: string; remote_addr: string | null; remote_host: string | null; reply: string | null; started_at: string; tls: string | null; tls_policy: string | null; way: string | null }
    AuditActor: { id: string; kind: "user" | "key" | "operator" | "system"; name: string }
    AuditLog: { entries: (components['schemas']["AuditRecord"])[]; has_more: boolean; next_cursor: string | null }
    AuditRecord: { action: string; actor: components['schemas']["AuditActor"]; changes: Record<string, unknown>; created_at: string; id: string; ip: string; request_id: string; target: string; user_agent: string }
    AuthorizationRecord: { name: string; status: "verified" | "missing" | "unknown"; value: string }
    AutomationAction: { action: "activate" | "pause" | "archive" | "duplicate"; runs?: "hold" | "continue" | "cancel" | null; version?: number | null }
    AutomationAnswer: { automation: components['schemas']["AutomationRecord"] }
    AutomationBacktest: { active_starts: number; differ: number; differences: (components['schemas']["BacktestDifference"])[]; draft_starts: number; events: number; has_more: boolean; version: number | null }
    AutomationCheckAnswer: { problems: (components['schemas']["AutomationProblem"])[] }
    AutomationCompletedEvent: { created_at: string; data: components['schemas']["RunPayload"]; mode?: "test"; type: "automation.completed" }
    AutomationDefinition: { description?: string; goal?: components['schemas']["StoredGoal"]; name: string; steps: (components['schemas']["StepDefinition"])[]; timezone?: string; trigger: (components['schemas']["TriggerDefinition"]) }
    AutomationDiff: { fields: (components['schemas']["FieldChange"])[]; from: number | null; steps: (components['schemas']["StepChange"])[]; to: number | null }
    AutomationDiffAnswer: { diff: components['schemas']["AutomationDiff"] }
    AutomationFailedEvent: { created_at: string; data: components['schemas']["RunPayload"]; mode?: "test"; type: "automation.failed" }
    AutomationList: { automations: (components['schemas']["AutomationRecord"])[]; has_more: boolean; next_cursor: string | null }
    AutomationProblem: { message: string; path: string; severity: "error" | "warning" }
    AutomationRecord: { activated_at: string | null; created_at: string; description: string | null; draining: "release" | "cancel" | null; etag: string; goal: (components['schemas']["StoredGoal"]) | (null); has_unpublished_changes: boolean; id: string; name: string; status: "draft" | "active" | "paused" | "archived"; steps: (components['schemas']["StepDefinition"])[]; timezone: string | null; trigger: (components['schemas']["TriggerDefinition"]); updated_at: string; version: number | null }
    AutomationRun: { automation_id: string; converted_at: string | null; email: string | null; ended_at: string | null; error: string | null; event_id: string; id: string; started_at: string; status: "running" | "waiting" | "completed" | "failed" | "cancelled"; step_index: number; user_id: string | null; version: number }
    AutomationRunAnswer: { automation_run: components['schemas']["AutomationRunDetail"] }
    AutomationRunDetail: { automation_id: string; converted_at: string | null; email: string | null; ended_at: string | null; error: string | null; event: components['schemas']["RunEvent"]; event_id: string; held: boolean; id: string; next_at: string | null; started_at: string; status: "running" | "waiting" | "completed" | "failed" | "cancelled"; step_index: number; steps: (components['schemas']["AutomationStep"])[]; user_id: string | null; version: number; waiting_for: (components['schemas']["WaitingFor"]) | (null) }
    AutomationRunFigures: { cancelled: number; completed: number; converted: number; failed: number; started: number; with_goal: number }
    AutomationRunList: { automation_runs: (components['schemas']["AutomationRun"])[]; has_more: boolean; next_cursor: string | null }
    AutomationSimulation: { automation_id: string; condition: (components['schemas']["ExpressionExplanation"]) | (null); ended_at: string; error: string | null; events: (components['schemas']["SimulatedArrival"])[]; facts: (components['schemas']["SimulatedFact"])[]; started_at: string; status: "completed" | "failed" | "cancelled" | "not_started"; steps: (components['schemas']["SimulatedStep"])[]; version: number | null }
    AutomationStartedEvent: { created_at: string; data: components['schemas']["RunPayload"]; mode?: "test"; type: "automation.started" }
    AutomationStatistics: { as_of: string; buckets: (components['schemas']["AutomationStatisticsBucket"])[]; totals: components['schemas']["AutomationStatisticsFigures"] }
    AutomationStatisticsAnswer: { statistics: components['schemas']["AutomationStatistics"] }
    AutomationStatisticsBucket: { figures: components['schemas']["AutomationStatisticsFigures"]; start: string }
    AutomationStatisticsFigures: { emails: components['schemas']["EmailFigures"]; runs: components['schemas']["AutomationRunFigures"] }
    AutomationStep: { email_id: string | null; ended_at: string; error: string | null; index: number; key: string; output: Record<string, unknown>; started_at: string; status: string; type: string }
    AutomationStepCompletedEvent: { created_at: string; data: components['schemas']["RunPayload"]; mode?: "test"; type: "automation.step_completed" }
    AutomationVersion: { created_at: string; definition: components['schemas']["AutomationDefinition"]; number: number }
    AutomationVersionAnswer: { version: components['schemas']["AutomationVersion"] }
    AutomationVersionsAnswer: { versions: (components['schemas']["AutomationVersion"])[] }
    AutomationWait: { events: (string)[]; until: string }
    BacktestAnswer: { backtest: components['schemas']["AutomationBacktest"] }
    BacktestAutomation: { limit?: number | null; since: string }
    BacktestDifference: { active: components['schemas']["Verdict"]; created_at: string; draft: components['schemas']["Verdict"]; event_id: string; name: string }
    BatchAnswer: { data: (components['schemas']["BatchResult"])[] }
    BatchResult: { error?: components['schemas']["ProblemBody"]; id: string | null; index: number; status: "sent" | "scheduled" | "failed"; suppressed_recipients?: (string)[] }
    BillingAnswer: { billing: components['schemas']["BillingRecord"] }
    BillingRecord: { billing_email: string; cancel_at: string | null; current_period_end: string; current_period_start: string; enabled: boolean; mode: string | null; monthly_limit: number | null; payment_method: (components['schemas']["CardRecord"]) | (null); pending_at: string | null; pending_plan: string | null; plan: components['schemas']["PlanName"]; problems: (string)[]; production: components['schemas']["Production"]; status: "none" | "incomplete" | "incomplete_expired" | "trialing" | "active" | "past_due" | "canceled" | "unpaid" | "paused"; usage: components['schemas']["UsageOfMonth"] }
    BimiFinding: { code: "record" | "dmarc" | "logo" | "logo_profile" | "logo_shape" | "logo_title" | "logo_content" | "certificate" | "certificate_issuers" | "certificate_validity" | "certificate_domain" | "certificate_logo"; fix: string | null; found: string; state: "met" | "close" | "broken" | "unknown" }
    BouncePayload: { attempt?: number; code: number; diagnostic: string; enhanced_code: string; remote_mta: string; type: string }
    BranchCase: { goto: string; if: string }
    BranchStep: { cases: (components['schemas']["BranchCase"])[]; key?: string; name?: string; next?: (components['schemas']["StepTarget"]); otherwise?: (components['schemas']["StepTarget"]); type: "branch" }
    BrandAnswer: { brand: components['schemas']["BrandRecord"] }
    BrandRecord: { color: string | null; logo: string | null; name: string | null; updated_at: string | null }
    CancelEvent: { conditions?: string; event: string; step?: string }
    CancelRule: (string) | (components['schemas']["CancelEvent"])
    CapturedAnswer: { captured_email: components['schemas']["CapturedEmail"] }
    CapturedEmail: { attachments: (components['schemas']["CapturedFile"])[]; findings: (components['schemas']["Finding"])[]; from: string; headers: (components['schemas']["CapturedField"])[]; html: string | null; id: string; links: (string)[]; message_id: string; mode: "test"; received_at: string; return_path: string; size: number; subject: string; text: string | null; to: (string)[] }
    CapturedEmailList: { captured_emails: (components['schemas']["ListedEmail"])[]; has_more: boolean; next_cursor: string | null }
    CapturedField: { name: string; value: string }
    CapturedFile: { content_type: string; filename: string; inline: boolean; size: number }
    CardRecord: { brand: string; exp_month: number; exp_year: number; last4: string }
    CeremonyAnswer: { challenge_id: string; options: Record<string, unknown> }
    ChangePlan: { plan: string }
    CheckAnswer: { check: components['schemas']["EmailCheck"] }
    CheckOut: { plan: string; return_path?: string | null }
    ClaimAnswer: { claim: components['schemas']["ClaimRecord"] }
    ClaimDomain: { name: string }
    ClaimList: { claims: (components['schemas']["ClaimRecord"])[]; has_more: boolean; next_cursor: string | null }
    ClaimRecord: { completed_at: string | null; created_at: string; error: string | null; expires_at: string; id: string; last_checked_at: string | null; name: string; record: components['schemas']["ProofRecord"]; status: "pending" | "completed" | "expired" }
    ClaimVerified: { claim: components['schemas']["ClaimRecord"]; domain: (components['schemas']["DomainRecord"]) | (null) }
    ClickPayload: { ip: string; machine: boolean; url: string; user_agent: string }
    ComplaintPayload: { reporter: string; type: string }
    CompleteSignUp: { account_name: string; name?: string | null; password: string; token: string }
    ConditionStep: { if: string; key?: string; name?: string; next?: (components['schemas']["StepTarget"]); on_false?: (components['schemas']["StepTarget"]); on_true?: (components['schemas']["StepTarget"]); type: "condition" }
    ConfirmEmail: { code?: string | null; password?: string | null; token: string }
    ConfirmSession: { code?: string; passkey?: (components['schemas']["PasskeyAssertion"]); password?: string }
    ContactUnsubscribedEvent: { created_at: string; data: components['schemas']["UnsubscribePayload"]; mode?: "test"; type: "contact.unsubscribed" }
    CreateAPIKey: { allowed_ips?: (string)[] | null; domain_ids?: (string)[] | null; expires_at?: string | null; mode?: "live" | "test" | null; name: string; permissions?: ("account:read" | "account:write" | "automations:read" | "automations:write" | "contacts:write" | "domains:read" | "domains:write" | "emails:read" | "emails:send" | "emails:write" | "events:read" | "events:send" | "received_emails:read" | "received_emails:write" | "requests:read" | "sms:read" | "sms:write" | "suppressions:read" | "suppressions:write" | "templates:read" | "templates:write" | "webhooks:read" | "webhooks:write")[] | null; scope?: "full" | "sending" | "read" | null }
    CreateAccount: { name: string }
    CreateAccountAsOperator: { email: string; name: string; owner_name?: string | null; plan?: string | null; production_unlocked?: boolean | null; unmetered?: boolean | null }
    CreateAutomation: { description?: string | null; goal?: (components['schemas']["GoalDefinition"]) | (null); name: string; steps: (components['schemas']["StepDefinition"])[]; timezone?: string | null; trigger: (components['schemas']["TriggerDefinition"]) }
    CreateInvitation: { email: string; role: "owner" | "admin" | "developer" | "billing" | "viewer" }
    CreateOperatorKey: { allowed_ips?: (string)[] | null; expires_at?: string | null; name: string }
    CreateSMTPCredential: { domain_ids?: (string)[] | null; mode?: "live" | "test" | null; name: string }
    CreateUserAsOperator: { email: string; name?: string | null }
    CreateWebhook: { description?: string | null; events?: ("account.rate_exceeded" | "account.usage_reached" | "automation.completed" | "automation.failed" | "automation.started" | "automation.step_completed" | "contact.unsubscribed" | "domain.added" | "domain.claim_started" | "domain.claimed" | "domain.deleted" | "domain.deliverability_degraded" | "domain.dkim_rotated" | "domain.failed" | "domain.lost" | "domain.temporary_failure" | "domain.updated" | "domain.verified" | "email.bounced" | "email.cancelled" | "email.clicked" | "email.complained" | "email.delivered" | "email.delivery_delayed" | "email.failed" | "email.opened" | "email.received" | "email.scheduled" | "email.sent" | "email.suppressed" | "suppression.added" | "suppression.removed" | "webhook.disabled")[] | null; filter?: (components['schemas']["WebhookFilterInput"]) | (null); headers?: Record<string, string> | null; rate_limit?: number | null; url: string }
    CreatedAccountAnswer: { account: components['schemas']["OperatorAccountRecord"] }
    CustomEvent: { created_at: string; data: Record<string, unknown> | null; email: string | null; id: string; name: string; source: string; user_id: string | null }
    CustomEventAnswer: { event: components['schemas']["CustomEventDetail"] }
    CustomEventDetail: { created_at: string; data: Record<string, unknown> | null; email: string | null; id: string; matches: (components['schemas']["EventMatch"])[]; name: string; source: string; user_id: string | null }
    CustomEventInput: { automation_id?: string | null; data?: Record<string, unknown> | null; dry_run?: boolean | null; email?: string | null; name: string; test_send?: boolean | null; user_id?: string | null }
    CustomEventList: { events: (components['schemas']["CustomEvent"])[]; has_more: boolean; next_cursor: string | null }
    DegradationPayload: { affected: number; cause: string; domain_id: string; fix: string; name: string; previous_share: number; problem: string; provider: string; reason: string; recipients: number; reply: string; share: number }
    DegradationRecord: { affected: number; cause: string; fix: string; previous_share: number; problem: "refused" | "deferred"; provider: string; reason: string; recipients: number; reply: string | null; since: string }
    DelayPayload: { attempt: number; diagnostic: string; next_attempt_at: string }
    DelayStep: { duration: string; key?: string; name?: string; next?: (components['schemas']["StepTarget"]); type: "delay" }
    DeleteSuppressions: { emails?: (string)[] | null; ids?: (string)[] | null }
    DeletedBatch: { data: (components['schemas']["DeletedItem"])[] }
    DeletedItem: { error?: components['schemas']["ProblemBody"]; id: string | null; index: number; status: "deleted" | "not_found" | "failed" }
    DeliverabilityAnswer: { deliverability: components['schemas']["DeliverabilityRecord"] }
    DeliverabilityRecord: { advice: components['schemas']["PolicyAdvice"]; bimi: (components['schemas']["BimiFinding"])[]; blocklists: (components['schemas']["ListingRecord"])[]; degradations: (components['schemas']["DegradationRecord"])[]; domain: string; domain_id: string; feedback_loops: (components['schemas']["FeedbackLoopRecord"])[]; grade: "good" | "fair" | "poor" | "unknown"; placement: (components['schemas']["PlacementRecord"])[]; reasons: (string)[]; receivers: (components['schemas']["ReceiverShare"])[]; reporting: components['schemas']["DeliverabilityReporting"]; requirements: (components['schemas']["RequirementRecord"])[]; since: string; sources: (components['schemas']["SourceShare"])[]; tls: components['schemas']["TlsSummary"]; totals: components['schemas']["ResultShare"]; until: string }
    DeliverabilityReporting: { address: string; authorization: components['schemas']["AuthorizationRecord"]; last_report_at: string | null; refused: (components['schemas']["RefusedReports"])[]; reports: number }
    DepartureAnswer: { url: string }
    DisabledWebhookPayload: { reason: string; url: string; webhook_id: string }
    DnsApplied: { applied: (components['schemas']["DnsChange"])[]; conflicts: (components['schemas']["DnsChange"])[]; dry_run: boolean; unchanged: (components['schemas']["DnsChange"])[] }
    DnsChange: { after: (string)[]; before: (string)[]; name: string; priority?: number; purpose: "ownership" | "dkim" | "return_path" | "spf" | "dmarc" | "inbound_mx" | "tls_reports" | "bimi" | "mta_sts_host" | "mta_sts"; reason: string | null; ttl: number; type: "TXT" | "CNAME" | "MX"; value: string }
    DnsProvider: { credentials: (string)[]; name: string | null; nameservers: (string)[]; supported: boolean; zone: string | null }
    DnsProviderAnswer: { provider: components['schemas']["DnsProvider"] }
    DnsRecord: { error: string | null; found: (string)[]; name: string; priority?: number; purpose: "ownership" | "dkim" | "return_path" | "spf" | "dmarc" | "inbound_mx" | "tls_reports" | "bimi" | "mta_sts_host" | "mta_sts"; required: boolean; status: "missing" | "mismatch" | "verified"; ttl: number; type: "TXT" | "CNAME" | "MX"; value: string }
    DomainAddedEvent: { created_at: string; data: components['schemas']["DomainPayload"]; mode?: "test"; type: "domain.added" }
    DomainAnswer: { domain: components['schemas']["DomainRecord"] }
    DomainClaimPayload: { claim_id: string; expires_at: string; name: string }
    DomainClaimStartedEvent: { created_at: string; data: components['schemas']["DomainClaimPayload"]; mode?: "test"; type: "domain.claim_started" }
    DomainClaimedEvent: { created_at: string; data: components['schemas']["DomainPayload"]; mode?: "test"; type: "domain.claimed" }
    DomainDKIM: { algorithm: "rsa-sha256"; ready: boolean; selector: string }
    DomainDeletedEvent: { created_at: string; data: components['schemas']["DomainPayload"]; mode?: "test"; type: "domain.deleted" }
    DomainDeliverabilityDegradedEvent: { created_at: string; data: components['schemas']["DegradationPayload"]; mode?: "test"; type: "domain.deliverability_degraded" }
    DomainDkimRotatedEvent: { created_at: string; data: components['schemas']["DomainKeyPayload"]; mode?: "test"; type: "domain.dkim_rotated" }
    DomainFailedEvent: { created_at: string; data: components['schemas']["DomainPayload"]; mode?: "test"; type: "domain.failed" }
    DomainKey: { activated_at: string | null; algorithm: "rsa-sha256" | "ed25519-sha256"; created_at: string; keep_until: string | null; ready: boolean; retired_at: string | null; selector: string; status: "pending" | "active" | "retired" }
    DomainKeyPayload: { algorithm: string; domain_id: string; name: string; previous_selector: string; selector: string }
    DomainList: { domains: (components['schemas']["DomainRecord"])[]; has_more: boolean; next_cursor: string | null }
    DomainLostEvent: { created_at: string; data: components['schemas']["DomainPayload"]; mode?: "test"; type: "domain.lost" }
    DomainPayload: { domain_id: string; name: string; status: string }
    DomainRecord: { bimi_certificate_url: string | null; bimi_logo_url: string | null; click_tracking: boolean; created_at: string; dkim: components['schemas']["DomainDKIM"]; dkim_keys: (components['schemas']["DomainKey"])[]; id: string; inbound_enabled: boolean; last_checked_at: string | null; mta_sts: "off" | "none" | "testing" | "enforce"; name: string; open_tracking: boolean; records: (components['schemas']["DnsRecord"])[]; status: "pending" | "verified" | "temporary_failure" | "failed"; tls_mode: "opportunistic" | "enforced"; updated_at: string; verified_at: string | null }
    DomainTemporaryFailureEvent: { created_at: string; data: components['schemas']["DomainPayload"]; mode?: "test"; type: "domain.temporary_failure" }
    DomainUpdatePayload: { bimi_certificate_url: string; bimi_logo_url: string; changed: (string)[]; click_tracking: boolean; domain_id: string; ed25519: boolean; inbound_enabled: boolean; mta_sts: string; name: string; open_tracking: boolean; status: string; tls_mode: string }
    DomainUpdatedEvent: { created_at: string; data: components['schemas']["DomainUpdatePayload"]; mode?: "test"; type: "domain.updated" }
    DomainVerifiedEvent: { created_at: string; data: components['schemas']["DomainPayload"]; mode?: "test"; type: "domain.verified" }
    DryRun: { automation_id: string; condition: (components['schemas']["ExpressionExplanation"]) | (null); error: string | null; outcome: "completed" | "failed" | "cancelled" | "not_started"; trace: (components['schemas']["SimulatedStep"])[]; version: number | null }
    EditAnswer: { edit: components['schemas']["EditRecord"] }
    EditRecord: { author: string | null; category: string | null; edit: number; from: string | null; html: string | null; reply_to: (string)[]; saved_at: string; started_at: string; subject: string | null; template_id: string; text: string | null; translations: (components['schemas']["TemplateTranslation"])[]; unsubscribe_enabled: boolean; variables: (components['schemas']["TemplateVariable"])[] }
    EditSummary: { author: string | null; category: string | null; edit: number; from: string | null; reply_to: (string)[]; saved_at: string; started_at: string; subject: string | null; template_id: string; unsubscribe_enabled: boolean; variables: (components['schemas']["TemplateVariable"])[] }
    EmailAnswer: { email: components['schemas']["EmailRecord"] }
    EmailBouncedEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.bounced" }
    EmailCancelledEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.cancelled" }
    EmailCheck: { findings: (components['schemas']["Finding"])[]; preview: components['schemas']["EmailPreview"]; suppressed_recipients: (string)[] | null }
    EmailClickedEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.clicked" }
    EmailComplainedEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.complained" }
    EmailDeliveredEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.delivered" }
    EmailDeliveryDelayedEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.delivery_delayed" }
    EmailFailedEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.failed" }
    EmailFigures: { accepted: number; bounced: number; clicked: number; complained: number; delayed: number; delivered: number; failed: number; opened: number; recipients: number; suppressed: number; unsubscribed: number }
    EmailList: { emails: (components['schemas']["EmailRecord"])[]; has_more: boolean; next_cursor: string | null }
    EmailOpenedEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.opened" }
    EmailPayload: { bounce?: components['schemas']["BouncePayload"]; bounce_reason?: string; cc: (string)[]; click?: components['schemas']["ClickPayload"]; complaint?: components['schemas']["ComplaintPayload"]; created_at: string; delay?: components['schemas']["DelayPayload"]; email_id: string; email_status: string; failure?: components['schemas']["FailurePayload"]; from: string; open?: components['schemas']["OpenPayload"]; recipient?: string; scheduled_at?: string; status: string; subject: string; suppressed_recipients?: (string)[]; tags: (components['schemas']["Tag"])[]; to: (string)[] }
    EmailPreview: { bcc: (string)[] | null; cc: (string)[] | null; from: string; html: string | null; reply_to: (string)[] | null; subject: string; text: string | null; to: (string)[] | null }
    EmailReceipt: { id: string; status: "sent" | "scheduled" | "failed"; suppressed_recipients?: (string)[] }
    EmailReceivedEvent: { created_at: string; data: components['schemas']["InboundPayload"]; mode?: "test"; type: "email.received" }
    EmailRecord: { automation_id?: string; bcc: (string)[]; bounce_reason: string | null; bounced_at: string | null; cancelled_at: string | null; cc: (string)[]; created_at: string; delivered_at: string | null; expires_at: string | null; from: string; id: string; last_event: string; mode?: "test"; reply_to: (string)[]; run_id?: string; scheduled_at: string | null; sent_at: string | null; status: "queued" | "scheduled" | "sent" | "delivered" | "bounced" | "failed" | "cancelled"; subject: string; tags: (components['schemas']["EmailTag"])[]; to: (string)[] }
    EmailScheduledEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.scheduled" }
    EmailSentEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.sent" }
    EmailSuppressedEvent: { created_at: string; data: components['schemas']["EmailPayload"]; mode?: "test"; type: "email.suppressed" }
    EmailTag: { name: string; value: string }
    EmailWhole: { attachments: (components['schemas']["AttachmentRecord"])[]; automation_id?: string; bcc: (string)[]; bounce_reason: string | null; bounced_at: string | null; cancelled_at: string | null; cc: (string)[]; created_at: string; delivered_at: string | null; expires_at: string | null; from: string; headers: Record<string, string>; html: string | null; id: string; last_event: string; mode?: "test"; recipients: (components['schemas']["RecipientRecord"])[]; reply_to: (string)[]; run_id?: string; scheduled_at: string | null; sent_at: string | null; status: "queued" | "scheduled" | "sent" | "delivered" | "bounced" | "failed" | "cancelled"; subject: string; tags: (components['schemas']["EmailTag"])[]; text: string | null; to: (string)[] }
    EndStep: { key?: string; name?: string; outcome?: "completed" | "failed"; type: "end" }
    EnteredAnswer: { memberships: (components['schemas']["MembershipRecord"])[]; session: components['schemas']["SessionRecord"]; user: components['schemas']["UserRecord"] }
    ErasedAnswer: { erased: components['schemas']["ErasedCounts"]; ok: boolean }
    ErasedCounts: { emails: number; events: number; received: number; redacted: number; suppressions: number }
    Error: { error: components['schemas']["ProblemBody"] }
    EventExplanation: { event_id: string; matches: (components['schemas']["ExplainedMatch"])[]; near_misses: (components['schemas']["NearMiss"])[] }
    EventFilter: { automation_ids: (string)[]; domain_ids: (string)[]; tags: (components['schemas']["TagFilter"])[]; template_ids: (string)[] }
    EventLogPage: { events: (components['schemas']["LoggedEvent"])[]; has_more: boolean; next_cursor: string }
    EventMatch: { automation_id: string; error: string | null; outcome: "started" | "resumed" | "cancelled" | "condition_false" | "condition_error" | "re_entry" | "too_many_runs" | "paused" | "loop_guard"; run_id: string | null; version: number }
    EventReceipt: { cancelled_runs: number; dry_run?: components['schemas']["DryRun"]; event: components['schemas']["CustomEvent"]; matched_automations: number; resumed_runs: number; run?: components['schemas']["StartedRun"] }
    ExceededRatePayload: { account_id: string; limit: number; rate: string; recipients: number; share: number }
    ExplainedMatch: { automation_id: string; automation_name: string | null; conditions: (components['schemas']["ExpressionExplanation"])[]; error: string | null; outcome: "started" | "resumed" | "cancelled" | "condition_false" | "condition_error" | "re_entry" | "too_many_runs" | "paused" | "loop_guard" | "activated_later" | "not_kept"; run_id: string | null; step_key: string | null; version: number }
    ExplanationAnswer: { explanation: components['schemas']["EventExplanation"] }
    ExpressionExplanation: { error: string | null; parts: (components['schemas']["ExpressionPart"])[]; result: boolean; text: string }
    ExpressionPart: { error: string | null; text: string; value: unknown }
    FactorAnswer: { secret: string; uri: string }
    FailurePayload: { code: string; reason: string }
    FeedbackLoopRecord: { about: string; complaints: number; fix: string; name: string; page: string; provider: string }
    FieldChange: { after: unknown; before: unknown; path: string }
    Finding: { code: string; count: number; fix: string; part: "html" | "text" | "subject" | "header" | "message"; places: (components['schemas']["FindingPlace"])[]; reason: string; severity: "error" | "warning" | "info" }
    FindingPlace: { element: string; line: number | null }
    ForgotPassword: { email: string }
    ForwardReceivedEmail: { attachments?: (components['schemas']["AttachmentInput"])[] | null; bcc?: (components['schemas']["Mailboxes"]) | (null); cc?: (components['schemas']["Mailboxes"]) | (null); from?: (components['schemas']["Mailbox"]) | (null); headers?: Record<string, string> | null; html?: string | null; reply_to?: (components['schemas']["Mailboxes"]) | (null); subject?: string | null; tags?: (components['schemas']["TagsInput"]) | (null); text?: string | null; to: (components['schemas']["Mailboxes"]); with_attachments?: boolean | null }
    GoalDefinition: { event: string; within_days: number }
    Header: { name: string; value: string }
    HttpSettings: { body: string | null; content_type: string | null; header_names: (string)[]; id_path: string | null; idempotent: boolean; url: string }
    ImageAnswer: { image: components['schemas']["ImageRecord"] }
    ImageRecord: { content_type: "image/png" | "image/jpeg" | "image/gif"; created_at: string; height: number; id: string; name: string; size: number; url: string; width: number }
    ImagesAnswer: { images: (components['schemas']["ImageRecord"])[] }
    ImportTemplateStrings: { xliff: string }
    ImportedAnswer: { locale: string; template: components['schemas']["TemplateRecord"]; untranslated: (string)[] }
    InboundPayload: { attachment_count: number; attachments: (components['schemas']["AttachmentInfoPayload"])[]; cc: (string)[]; email_id: string; from: string; in_reply_to: string | null; message_id: string; rcpt_to: string; received_at: string; references: (string)[]; spam_status: string; status: string; subject: string; to: (string)[] }
    InvitationAnswer: { invitation: components['schemas']["InvitationRecord"] }
    InvitationRecord: { accepted_at: string | null; created_at: string; email: string; expires_at: string; id: string; invited_by: string | null; revoked_at: string | null; role: "owner" | "admin" | "developer" | "billing" | "viewer" }
    InvitationsAnswer: { invitations: (components['schemas']["InvitationRecord"])[] }
    InvoiceList: { has_more: boolean; invoices: (components['schemas']["InvoiceRecord"])[]; next_cursor: string | null }
    InvoiceRecord: { created_at: string | null; currency: string; id: string; number: string | null; pdf_url: string | null; period_end: string | null; period_start: string | null; status: "draft" | "open" | "paid" | "uncollectible" | "void"; total: number; url: string | null }
    KeyAnswer: { api_key: components['schemas']["KeyRecord"] }
    KeyRecord: { allowed_ips: (string)[]; created_at: string; created_by: string | null; creator_left: boolean; creator_role: "owner" | "admin" | "developer" | "billing" | "viewer" | null; domain_ids: (string)[]; expires_at: string | null; id: string; last_used_at: string | null; last_used_ip: string | null; mode: "live" | "test"; name: string; permissions: (string)[]; prefix: string; revoked_at: string | null; scope: "full" | "sending" | "read" }
    LaterEvent: { after?: string | null; data?: Record<string, unknown> | null; name: string }
    LineRecord: { amount: number; description: string }
    ListedEmail: { from: string; id: string; message_id: string; mode: "test"; received_at: string; return_path: string; size: number; snippet: string; subject: string; to: (string)[] }
    ListingRecord: { checked_at: string; fix: string | null; found: string; list: string; listed_since: string | null; page: string | null; status: "listed" | "clear" | "refused" | "broken" | "unknown"; subject: string }
    LoggedEvent: (components['schemas']["LoggedEventAccountRateExceeded"]) | (components['schemas']["LoggedEventAccountUsageReached"]) | (components['schemas']["LoggedEventAutomationCompleted"]) | (components['schemas']["LoggedEventAutomationFailed"]) | (components['schemas']["LoggedEventAutomationStarted"]) | (components['schemas']["LoggedEventAutomationStepCompleted"]) | (components['schemas']["LoggedEventContactUnsubscribed"]) | (components['schemas']["LoggedEventDomainAdded"]) | (components['schemas']["LoggedEventDomainClaimStarted"]) | (components['schemas']["LoggedEventDomainClaimed"]) | (components['schemas']["LoggedEventDomainDeleted"]) | (components['schemas']["LoggedEventDomainDeliverabilityDegraded"]) | (components['schemas']["LoggedEventDomainDkimRotated"]) | (components['schemas']["LoggedEventDomainFailed"]) | (components['schemas']["LoggedEventDomainLost"]) | (components['schemas']["LoggedEventDomainTemporaryFailure"]) | (components['schemas']["LoggedEventDomainUpdated"]) | (components['schemas']["LoggedEventDomainVerified"]) | (components['schemas']["LoggedEventEmailBounced"]) | (components['schemas']["LoggedEventEmailCancelled"]) | (components['schemas']["LoggedEventEmailClicked"]) | (components['schemas']["LoggedEventEmailComplained"]) | (components['schemas']["LoggedEventEmailDelivered"]) | (components['schemas']["LoggedEventEmailDeliveryDelayed"]) | (components['schemas']["LoggedEventEmailFailed"]) | (components['schemas']["LoggedEventEmailOpened"]) | (components['schemas']["LoggedEventEmailReceived"]) | (components['schemas']["LoggedEventEmailScheduled"]) | (components['schemas']["LoggedEventEmailSent"]) | (components['schemas']["LoggedEventEmailSuppressed"]) | (components['schemas']["LoggedEventSuppressionAdded"]) | (components['schemas']["LoggedEventSuppressionRemoved"]) | (components['schemas']["LoggedEventWebhookDisabled"])
    LoggedEventAccountRateExceeded: { created_at: string; data: components['schemas']["ExceededRatePayload"]; id: string; mode?: "test"; type: "account.rate_exceeded" }
    LoggedEventAccountUsageReached: { created_at: string; data: components['schemas']["ReachedUsagePayload"]; id: string; mode?: "test"; type: "account.usage_reached" }
    LoggedEventAutomationCompleted: { created_at: string; data: components['schemas']["RunPayload"]; id: string; mode?: "test"; type: "automation.completed" }
    LoggedEventAutomationFailed: { created_at: string; data: components['schemas']["RunPayload"]; id: string; mode?: "test"; type: "automation.failed" }
    LoggedEventAutomationStarted: { created_at: string; data: components['schemas']["RunPayload"]; id: string; mode?: "test"; type: "automation.started" }
    LoggedEventAutomationStepCompleted: { created_at: string; data: components['schemas']["RunPayload"]; id: string; mode?: "test"; type: "automation.step_completed" }
    LoggedEventContactUnsubscribed: { created_at: string; data: components['schemas']["UnsubscribePayload"]; id: string; mode?: "test"; type: "contact.unsubscribed" }
    LoggedEventDomainAdded: { created_at: string; data: components['schemas']["DomainPayload"]; id: string; mode?: "test"; type: "domain.added" }
    LoggedEventDomainClaimStarted: { created_at: string; data: components['schemas']["DomainClaimPayload"]; id: string; mode?: "test"; type: "domain.claim_started" }
    LoggedEventDomainClaimed: { created_at: string; data: components['schemas']["DomainPayload"]; id: string; mode?: "test"; type: "domain.claimed" }
    LoggedEventDomainDeleted: { created_at: string; data: components['schemas']["DomainPayload"]; id: string; mode?: "test"; type: "domain.deleted" }
    LoggedEventDomainDeliverabilityDegraded: { created_at: string; data: components['schemas']["DegradationPayload"]; id: string; mode?: "test"; type: "domain.deliverability_degraded" }
    LoggedEventDomainDkimRotated: { created_at: string; data: components['schemas']["DomainKeyPayload"]; id: string; mode?: "test"; type: "domain.dkim_rotated" }
    LoggedEventDomainFailed: { created_at: string; data: components['schemas']["DomainPayload"]; id: string; mode?: "test"; type: "domain.failed" }
    LoggedEventDomainLost: { created_at: string; data: components['schemas']["DomainPayload"]; id: string; mode?: "test"; type: "domain.lost" }
    LoggedEventDomainTemporaryFailure: { created_at: string; data: components['schemas']["DomainPayload"]; id: string; mode?: "test"; type: "domain.temporary_failure" }
    LoggedEventDomainUpdated: { created_at: string; data: components['schemas']["DomainUpdatePayload"]; id: string; mode?: "test"; type: "domain.updated" }
    LoggedEventDomainVerified: { created_at: string; data: components['schemas']["DomainPayload"]; id: string; mode?: "test"; type: "domain.verified" }
    LoggedEventEmailBounced: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.bounced" }
    LoggedEventEmailCancelled: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.cancelled" }
    LoggedEventEmailClicked: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.clicked" }
    LoggedEventEmailComplained: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.complained" }
    LoggedEventEmailDelivered: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.delivered" }
    LoggedEventEmailDeliveryDelayed: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.delivery_delayed" }
    LoggedEventEmailFailed: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.failed" }
    LoggedEventEmailOpened: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.opened" }
    LoggedEventEmailReceived: { created_at: string; data: components['schemas']["InboundPayload"]; id: string; mode?: "test"; type: "email.received" }
    LoggedEventEmailScheduled: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.scheduled" }
    LoggedEventEmailSent: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.sent" }
    LoggedEventEmailSuppressed: { created_at: string; data: components['schemas']["EmailPayload"]; id: string; mode?: "test"; type: "email.suppressed" }
    LoggedEventSuppressionAdded: { created_at: string; data: components['schemas']["SuppressionPayload"]; id: string; mode?: "test"; type: "suppression.added" }
    LoggedEventSuppressionRemoved: { created_at: string; data: components['schemas']["SuppressionPayload"]; id: string; mode?: "test"; type: "suppression.removed" }
    LoggedEventWebhookDisabled: { created_at: string; data: components['schemas']["DisabledWebhookPayload"]; id: string; mode?: "test"; type: "webhook.disabled" }
    MadeAccount: { id: string; name: string; role: "owner" }
    MadeAccountAnswer: { account: components['schemas']["MadeAccount"] }
    Mailbox: (string) | (components['schemas']["NamedMailbox"])
    Mailboxes: (components['schemas']["Mailbox"]) | ((components['schemas']["Mailbox"])[])
    MemberAnswer: { member: components['schemas']["MemberRecord"] }
    MemberRecord: { joined_at: string; role: "owner" | "admin" | "developer" | "billing" | "viewer"; user: components['schemas']["MemberUser"] }
    MemberUser: { email: string; id: string; name: string }
    MembersAnswer: { members: (components['schemas']["MemberRecord"])[] }
    MembershipRecord: { account_id: string; account_name: string; moved_to: string | null; role: "owner" | "admin" | "developer" | "billing" | "viewer" }
    MessageAnswer: { sms_message: components['schemas']["SmsMessageDetail"] }
    NamedMailbox: { email: string; name?: string | null }
    NearMiss: { automation_id: string | null; condition: (components['schemas']["ExpressionExplanation"]) | (null); event_id: string | null; kind: "wait_of_another_person" | "wait_condition_false" | "event_of_another_person" | "name_spelled_otherwise"; name: string; run_id: string | null; step_key: string | null }
    NewKeyAnswer: { api_key: components['schemas']["KeyRecord"]; secret: string }
    NewOperatorKeyAnswer: { operator_key: components['schemas']["OperatorKeyRecord"]; secret: string }
    NewPasskey: { challenge_id: string; credential: Record<string, unknown>; name?: string | null }
    NewSMTPCredentialAnswer: { password: string; smtp_credential: components['schemas']["SmtpCredentialRecord"] }
    NewWebhookAnswer: { secret: string; webhook: components['schemas']["WebhookRecord"] }
    Offer: { account_name: string; email: string; known: boolean; role: "owner" | "admin" | "developer" | "billing" | "viewer" }
    OfferAnswer: { invitation: components['schemas']["Offer"] }
    OkAnswer: { ok: true }
    OpenInvitation: { token: string }
    OpenPayload: { ip: string; machine: boolean; user_agent: string }
    OpenPortal: { return_path?: string | null }
    OperatorAccountAnswer: { account: components['schemas']["OperatorAccountRecord"]; usage: components['schemas']["OperatorUsageRecord"] }
    OperatorAccountList: { accounts: (components['schemas']["OperatorAccountRecord"])[]; has_more: boolean; next_cursor: string | null }
    OperatorAccountRecord: { created_at: string; daily_bytes: number | null; email: string; id: string; monthly_limit: number | null; name: string; payment_due_at: string | null; payment_method_at: string | null; plan: string; production_unlocked: boolean; stored_bytes: number | null; suspended_at: string | null; unmetered: boolean }
    OperatorBillingAnswer: { billing: components['schemas']["OperatorBillingRecord"] }
    OperatorBillingRecord: { customers: number; due: number; enabled: boolean; failing: number; last_event_at: string | null; mode: string | null; oldest_unreported_seconds: number; past_due: number; problems: (components['schemas']["OperatorProblemRecord"])[]; stuck: (components['schemas']["OperatorStuckRecord"])[]; unreported_hours: number }
    OperatorKeyAnswer: { operator_key: components['schemas']["OperatorKeyRecord"] }
    OperatorKeyList: { has_more: boolean; next_cursor: string | null; operator_keys: (components['schemas']["OperatorKeyRecord"])[] }
    OperatorKeyRecord: { allowed_ips: (string)[]; created_at: string; created_by: string | null; expires_at: string | null; id: string; last_used_at: string | null; last_used_ip: string | null; name: string; prefix: string; revoked_at: string | null }
    OperatorMembershipRecord: { account_id: string; role: string }
    OperatorPlanAnswer: { plan: components['schemas']["OperatorPlanRecord"] }
    OperatorPlanRecord: { daily_bytes: number | null; daily_emails: number | null; daily_sms: number | null; id: string; included_emails: number | null; max_domains: number; monthly_emails: number | null; name: string; overage: boolean; rank: number; requests_per_second: number; sandboxed: boolean; self_service: boolean; stored_bytes: number | null }
    OperatorPlansAnswer: { plans: (components['schemas']["OperatorPlanRecord"])[] }
    OperatorProblemRecord: { account_id: string; what: string }
    OperatorStuckRecord: { account_id: string; emails: number; hour: string; reason: string }
    OperatorUsageRecord: { daily_bytes: number | null; daily_bytes_cap: number | null; daily_cap: number | null; day: number; month: number; monthly_cap: number | null; stored_bytes: number | null; stored_bytes_cap: number | null }
    OperatorUserAnswer: { user: components['schemas']["OperatorUserRecord"] }
    OperatorUserLinkAnswer: { expires_at: string; url: string }
    OperatorUserList: { has_more: boolean; next_cursor: string | null; users: (components['schemas']["OperatorUserRecord"])[] }
    OperatorUserRecord: { created_at: string; disabled_at: string | null; email: string; id: string; last_sign_in_at: string | null; memberships: (components['schemas']["OperatorMembershipRecord"])[]; name: string; operator: boolean }
    OptOutAnswer: { category_opt_out: components['schemas']["OptOutRecord"] }
    OptOutList: { category_opt_outs: (components['schemas']["OptOutRecord"])[]; has_more: boolean; next_cursor: string | null }
    OptOutRecord: { category: string; category_label: string; created_at: string; email: string | null; email_id: string | null; id: string; source: "one_click" | "page" }
    OveragePrice: { amount: number; currency: string; emails: number }
    PageAnswer: { expires_at: string | null; url: string }
    PasskeyAnswer: { passkey: components['schemas']["PasskeyRecord"] }
    PasskeyAssertion: { challenge_id: string; credential: Record<string, unknown> }
    PasskeyRecord: { created_at: string; id: string; last_used_at: string | null; name: string }
    PasskeysAnswer: { passkeys: (components['schemas']["PasskeyRecord"])[] }
    PasswordChange: { current?: string | null; new: string }
    PlacementCounts: { bounced: number; complained: number; delayed: number; delivered: number; median_seconds: number | null; recipients: number }
    PlacementRecord: { causes: (components['schemas']["ReplyCause"])[]; last_7_days: components['schemas']["PlacementCounts"]; previous_7_days: components['schemas']["PlacementCounts"]; provider: string; recipient_domains: (string)[] }
    PlanAnswer: { billing: components['schemas']["BillingRecord"]; effective: "now" | "period_end" }
    PlanLimits: { daily_emails: number | null; domains: number; monthly_emails: number | null; requests_per_second: number }
    PlanName: { id: string; name: string }
    PlanRecord: { current: boolean; id: string; included_emails: number | null; limits: components['schemas']["PlanLimits"]; name: string; overage: boolean; overage_price: (components['schemas']["OveragePrice"]) | (null); price: (components['schemas']["Price"]) | (null) }
    PlansAnswer: { plans: (components['schemas']["PlanRecord"])[] }
    PolicyAdvice: { at_risk: number; days: number; messages: number; policy: "none" | "quarantine" | "reject" | null; reason: string; record: string | null; unknown: number; verdict: "wait" | "fix" | "quarantine" | "reject" | "keep" }
    PreviewPlan: { plan: string }
    Price: { amount: number; currency: string; interval: "day" | "week" | "month" | "year" }
    ProblemBody: { code?: string; details?: Record<string, unknown>; message: string; upgrade_url?: string }
    Production: { payment_method: boolean; unlocked: boolean; verified_domain: boolean }
    ProofRecord: { name: string; type: "TXT"; value: string }
    ProviderRecord: { name: string }
    PublicationAnswer: { template: components['schemas']["TemplateRecord"]; warnings: (string)[] }
    PutAccountBrand: { color?: string | null; logo?: string | null; name?: string | null }
    PutGatewaySettings: { body?: string | null; content_type?: string | null; headers?: Record<string, string> | null; id_path?: string | null; idempotent?: boolean | null; url: string }
    PutSMSSettings: { countries: (string)[]; daily_cap?: number | null; from?: string | null; http?: (components['schemas']["PutGatewaySettings"]) | (null); provider: "operator" | "none" | "twilio" | "http"; twilio?: (components['schemas']["PutTwilioSettings"]) | (null) }
    PutTwilioSettings: { account_sid: string; auth_token?: string | null; base_url?: string | null }
    QuoteAnswer: { amount_due: number; currency: string; effective: "now" | "period_end"; effective_at: string | null; lines: (components['schemas']["LineRecord"])[] }
    ReEntry: ("every_time" | "once" | "after_completion") | (components['schemas']["ReEntryInterval"])
    ReEntryInterval: { at_most_every: string }
    ReachedUsagePayload: { account_id: string; cap: string; emails: number; limit: number; month: string; percent: number }
    ReceivedAnswer: { received_email: components['schemas']["ReceivedWhole"] }
    ReceivedAuth: { dkim: string; dkim_domains: (string)[]; dmarc: string; dmarc_policy: string; helo: string; iprev: string; remote_ip: string; reverse_name: string; spf: string; spf_domain: string; tls: string }
    ReceivedField: { name: string; value: string }
    ReceivedFile: { content_id: string | null; content_type: string; filename: string; inline: boolean; size: number }
    ReceivedFileData: { content_id: string | null; content_type: string; data: string | null; filename: string; inline: boolean; size: number }
    ReceivedItem: { attachment_count: number; attachments: (components['schemas']["ReceivedFile"])[]; auth: components['schemas']["ReceivedAuth"]; auto_submitted: boolean; cc: (string)[]; defects: (string)[]; domain_id: string; email_id: string; from: string; id: string; in_reply_to: string | null; mail_from: string; message_id: string; rcpt_to: string; received_at: string; references: (string)[]; reply_to: (string)[]; size: number; spam_score: number | null; spam_status: "ham" | "spam" | "unknown"; status: "received"; subject: string; to: (string)[] }
    ReceivedList: { has_more: boolean; next_cursor: string | null; received_emails: (components['schemas']["ReceivedItem"])[] }
    ReceivedWhole: { attachment_count: number; attachments: (components['schemas']["ReceivedFileData"])[]; auth: components['schemas']["ReceivedAuth"]; auto_submitted: boolean; cc: (string)[]; defects: (string)[]; domain_id: string; email_id: string; from: string; headers: (components['schemas']["ReceivedField"])[]; html: string | null; id: string; in_reply_to: string | null; mail_from: string; message_id: string; rcpt_to: string; received_at: string; references: (string)[]; reply_to: (string)[]; size: number; spam_score: number | null; spam_status: "ham" | "spam" | "unknown"; status: "received"; subject: string; text: string | null; to: (string)[] }
    ReceiverShare: { dkim: number; dmarc: number; messages: number; quarantined: number; receiver: string; rejected: number; spf: number }
    RecipientList: { has_more: boolean; next_cursor: string | null; recipients: (components['schemas']["RecipientRecord"])[] }
    RecipientRecord: { address: string; attempts: number; code: number | null; diagnostic: string | null; enhanced_code: string | null; held: boolean; kind: "to" | "cc" | "bcc"; next_attempt_at: string | null; remote_mta: string | null; settled_at: string | null; state: "queued" | "deferred" | "delivered" | "bounced" | "failed" }
    Record: { api_key_id: string | null; created_at: string; duration_ms: number; email_id: string | null; id: string; ip: string; method: string; operation: string; path: string; request_body: string; request_octets: number; response_body: string; response_octets: number; status: number; user_id: string | null }
    RecoverWebhook: { only_failed?: boolean | null; since: string; until?: string | null }
    RecoveryAnswer: { recovery_codes: (string)[] }
    RefusedReports: { messages: number; reason: string }
    RenderTemplate: { draft?: (components['schemas']["UnsavedTemplate"]) | (null); examples?: boolean | null; locale?: string | null; time_zone?: string | null; variables?: Record<string, unknown> | null; version?: (components['schemas']["TemplateVersionReference"]) | (null); within?: string | null }
    RenderedAnswer: { findings: (components['schemas']["Finding"])[]; rendered: components['schemas']["RenderedTemplate"] }
    RenderedTemplate: { html: string | null; locale: string | null; subject: string | null; text: string | null }
    ReplyCause: { cause: string; fix: string; reason: string; recipients: number; reply: string | null }
    ReplyToReceivedEmail: { attachments?: (components['schemas']["AttachmentInput"])[] | null; bcc?: (components['schemas']["Mailboxes"]) | (null); cc?: (components['schemas']["Mailboxes"]) | (null); from?: (components['schemas']["Mailbox"]) | (null); headers?: Record<string, string> | null; html?: string | null; reply_to?: (components['schemas']["Mailboxes"]) | (null); subject?: string | null; tags?: (components['schemas']["TagsInput"]) | (null); text?: string | null; to?: (components['schemas']["Mailboxes"]) | (null) }
    RequirementRecord: { code: "spf" | "dkim" | "dmarc" | "alignment" | "complaints" | "bounces" | "ptr" | "tls" | "unsubscribe"; fix: string | null; found: string; providers: (string)[]; since: string; state: "met" | "close" | "broken" | "unknown" }
    ResetAnswer: { ok: true; signed_in: boolean }
    ResetPassword: { password: string; token: string }
    ResultShare: { dkim: number; dmarc: number; messages: number; quarantined: number; rejected: number; spf: number }
    RetriedAnswer: { runs: number }
    RetryFailedRuns: { since: string; step?: string | null }
    RollbackTemplate: { version: number }
    RotateAPIKey: { overlap_seconds?: number | null }
    RunEvent: { created_at: string; data?: Record<string, unknown>; email?: string; id: string; name: string; source?: string; user_id?: string }
    RunPayload: { automation_id: string; automation_name: string; error: string | null; event_name: string; run_id: string; status: string; step_index: number; step_type: string }
    RunTimelineAnswer: { timeline: (components['schemas']["RunTimelineEntry"])[] }
    RunTimelineEntry: { at: string; data: Record<string, unknown> | null; error: string | null; source: "event" | "run" | "step" | "wait" | "email" | "sms"; status: string | null; step_key: string | null; subject_id: string | null; type: string }
    SMSMessage: { automation_id: string | null; country: string; created_at: string; encoding: "gsm7" | "ucs2"; error: string | null; error_code: string | null; from: string | null; id: string; next_at: string | null; provider: "capture" | "twilio" | "http" | null; provider_id: string | null; run_id: string | null; segments: number; sent_at: string | null; status: "queued" | "sent" | "delivered" | "failed" | "unknown"; text: string; to: string }
    SMSMessageList: { has_more: boolean; next_cursor: string | null; sms_messages: (components['schemas']["SMSMessage"])[] }
    SendBatch: { atomic?: boolean | null; emails: (components['schemas']["SendEmail"])[] }
    SendEmail: { attachments?: (components['schemas']["AttachmentInput"])[] | null; bcc?: (components['schemas']["Mailboxes"]) | (null); category?: string | null; cc?: (components['schemas']["Mailboxes"]) | (null); expires_at?: string | null; from?: (components['schemas']["Mailbox"]) | (null); headers?: Record<string, string> | null; html?: string | null; reply_to?: (components['schemas']["Mailboxes"]) | (null); scheduled_at?: string | null; subject?: string | null; tags?: (components['schemas']["TagsInput"]) | (null); template?: (components['schemas']["TemplateReference"]) | (null); text?: string | null; to: (components['schemas']["Mailboxes"]); unsubscribe?: boolean | null }
    SendEmailStep: { bcc?: (components['schemas']["StepAddresses"]); category?: string; cc?: (components['schemas']["StepAddresses"]); expires_after?: string; from?: string; headers?: Record<string, string>; html?: string; key?: string; name?: string; next?: (components['schemas']["StepTarget"]); on_error?: (components['schemas']["StepTarget"]); on_suppressed?: (components['schemas']["StepTarget"]); reply_to?: (components['schemas']["StepAddresses"]); subject?: string; tags?: (components['schemas']["StepTag"])[]; template?: (components['schemas']["StepTemplate"]); text?: string; to?: (components['schemas']["StepAddresses"]); type: "send_email"; unsubscribe?: boolean }
    SendSmsStep: { expires_after?: string; from?: string; key?: string; name?: string; next?: (components['schemas']["StepTarget"]); on_error?: (components['schemas']["StepTarget"]); on_suppressed?: (components['schemas']["StepTarget"]); text: string; to: string; type: "send_sms" }
    SessionRecord: { account_id: string | null; confirmed_at: string; created_at: string; current: boolean; expires_at: string; id: string; ip: string; last_used_at: string; method: "password" | "passkey" | "oidc" | "link"; second_factor: boolean; user_agent: string }
    SessionsAnswer: { sessions: (components['schemas']["SessionRecord"])[] }
    SetTrackingHost: { host: string }
    SetUp: { account_name: string; email: string; name?: string | null; password: string; token: string }
    SettingsAnswer: { sms_settings: components['schemas']["SettingsRecord"] }
    SettingsRecord: { carrier: "capture" | "twilio" | "http" | null; countries: (string)[]; daily_cap: number; from: string | null; http: (components['schemas']["HttpSettings"]) | (null); provider: "operator" | "none" | "twilio" | "http"; reply_url: string | null; twilio: (components['schemas']["TwilioSettings"]) | (null); updated_at: string | null; usable: boolean }
    SignIn: { code?: string | null; email: string; password: string }
    SignInAnswer: { sign_in: components['schemas']["SignInRecord"] }
    SignInByLink: { token: string }
    SignInRecord: { oidc: (components['schemas']["ProviderRecord"]) | (null); passkeys: boolean; passwords: boolean; setup: boolean; sign_up: "invite" | "open" | "closed" }
    SignUp: { email: string }
    SimulateAutomation: { at?: string | null; draft?: boolean | null; event?: (components['schemas']["SimulatedEvent"]) | (null); event_id?: string | null; outcomes?: Record<string, unknown> | null; then?: (components['schemas']["LaterEvent"])[] | null; version?: number | null }
    SimulatedArrival: { at: string; condition: (components['schemas']["ExpressionExplanation"]) | (null); name: string; outcome: "resumed" | "cancelled" | "kept" | "nothing"; starts: boolean; step_key: string | null }
    SimulatedEmail: { bcc: (string)[]; category: string | null; cc: (string)[]; from: string; headers: (components['schemas']["Header"])[]; html: string | null; reply_to: (string)[]; subject: string; tags: (components['schemas']["Tag"])[]; template_id: string | null; template_version: number | null; text: string | null; to: (string)[]; unsubscribe: boolean }
    SimulatedEvent: { data?: Record<string, unknown> | null; email?: string | null; name?: string | null; user_id?: string | null }
    SimulatedFact: { created_at: string; data: Record<string, unknown>; type: string }
    SimulatedRequest: { body: unknown; headers: (components['schemas']["Header"])[]; method: string; url: string }
    SimulatedSMS: { encoding: "gsm7" | "ucs2"; from: string; segments: number; text: string; to: string }
    SimulatedStep: { conditions: (components['schemas']["ExpressionExplanation"])[]; email: (components['schemas']["SimulatedEmail"]) | (null); ended_at: string; error: string | null; index: number; key: string; output: Record<string, unknown>; request: (components['schemas']["SimulatedRequest"]) | (null); sms: (components['schemas']["SimulatedSMS"]) | (null); started_at: string; status: string; type: string; wait: (components['schemas']["AutomationWait"]) | (null) }
    SimulationAnswer: { simulation: components['schemas']["AutomationSimulation"] }
    SmsAttempt: { error: string | null; finished_at: string | null; number: number; outcome: "sent" | "temporary" | "failed" | "unknown" | null; provider: string; started_at: string; status_code: number | null }
    SmsMessageDetail: { attempts: (components['schemas']["SmsAttempt"])[]; automation_id: string | null; country: string; created_at: string; encoding: "gsm7" | "ucs2"; error: string | null; error_code: string | null; from: string | null; id: string; next_at: string | null; provider: "capture" | "twilio" | "http" | null; provider_id: string | null; run_id: string | null; segments: number; sent_at: string | null; status: "queued" | "sent" | "delivered" | "failed" | "unknown"; text: string; to: string }
    SmtpCredentialAnswer: { smtp_credential: components['schemas']["SmtpCredentialRecord"] }
    SmtpCredentialList: { has_more: boolean; next_cursor: string | null; smtp_credentials: (components['schemas']["SmtpCredentialRecord"])[] }
    SmtpCredentialRecord: { created_at: string; domain_ids: (string)[]; host: string; id: string; last_used_at: string | null; mode: "live" | "test"; name: string; port: number; revoked_at: string | null; tls: "starttls" | "implicit"; username: string }
    SourceShare: { address: string; at_risk: number; dkim: number; dmarc: number; messages: number; name: string | null; ours: boolean; quarantined: number; rejected: number; service: string | null; spf: number }
    SplitStep: { key?: string; name?: string; next?: (components['schemas']["StepTarget"]); type: "split"; variants: (components['schemas']["SplitVariant"])[] }
    SplitVariant: { goto?: string; key: string; weight: number }
    StartedRun: { id: string }
    StepAddresses: (string) | ((string)[])
    StepChange: { change: "added" | "removed" | "changed" | "moved"; fields: (components['schemas']["FieldChange"])[]; from_index: number | null; key: string; to_index: number | null; type: string }
    StepDefinition: (components['schemas']["BranchStep"]) | (components['schemas']["ConditionStep"]) | (components['schemas']["DelayStep"]) | (components['schemas']["EndStep"]) | (components['schemas']["SendEmailStep"]) | (components['schemas']["SendSmsStep"]) | (components['schemas']["SplitStep"]) | (components['schemas']["WaitForEventStep"]) | (components['schemas']["WaitUntilStep"]) | (components['schemas']["WebhookStep"])
    StepEvents: (string) | ((string)[])
    StepGoto: { goto: string }
    StepSecretAnswer: { secret: string }
    StepTag: { name: string; value: string }
    StepTarget: ("continue" | "end" | "fail") | (components['schemas']["StepGoto"])
    StepTemplate: { alias?: string; id?: string; locale?: string; time_zone?: string; variables?: Record<string, unknown> }
    StepWindow: { days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; from: string; to: string }
    StopEmailChange: { token: string }
    StoredGoal: { event: string; within_days: number }
    SuppressionAddedEvent: { created_at: string; data: components['schemas']["SuppressionPayload"]; mode?: "test"; type: "suppression.added" }
    SuppressionAnswer: { suppression: components['schemas']["SuppressionRecord"] }
    SuppressionBatch: { data: (components['schemas']["SuppressionItem"])[] }
    SuppressionItem: { error?: components['schemas']["ProblemBody"]; id: string | null; index: number; status: "added" | "existing" | "failed" }
    SuppressionList: { has_more: boolean; next_cursor: string | null; suppressions: (components['schemas']["SuppressionRecord"])[] }
    SuppressionPayload: { email: string | null; email_id: string | null; reason: string; suppression_id: string }
    SuppressionRecord: { created_at: string; email: string | null; email_id: string | null; id: string; reason: "bounce" | "failure" | "complaint" | "unsubscribe" | "manual" }
    SuppressionRemovedEvent: { created_at: string; data: components['schemas']["SuppressionPayload"]; mode?: "test"; type: "suppression.removed" }
    SwitchAccount: { account_id: string }
    Tag: { name: string; value: string }
    TagFilter: { name: string; value: string | null }
    TagInput: { name: string; value: string }
    TagMap: Record<string, string>
    TagsInput: ((components['schemas']["TagInput"])[]) | (components['schemas']["TagMap"])
    TemplateAnswer: { template: components['schemas']["TemplateRecord"] }
    TemplateEditList: { edits: (components['schemas']["EditSummary"])[]; has_more: boolean; next_cursor: string | null }
    TemplateList: { has_more: boolean; next_cursor: string | null; templates: (components['schemas']["TemplateSummary"])[] }
    TemplateLocale: { locale: string; missing: ("subject" | "html" | "text")[] }
    TemplateRecord: { alias: string | null; category: string | null; components: (components['schemas']["UsedComponent"])[]; created_at: string; etag: string; from: string | null; has_newer_components: boolean; has_unpublished_changes: boolean; html: string | null; id: string; kind: "template" | "layout" | "partial"; locales: (components['schemas']["TemplateLocale"])[]; name: string; published_at: string | null; reply_to: (string)[]; status: "draft" | "published"; subject: string | null; text: string | null; translations: (components['schemas']["TemplateTranslation"])[]; unsubscribe_enabled: boolean; updated_at: string; variables: (components['schemas']["TemplateVariable"])[]; version: number | null }
    TemplateReference: { alias?: string | null; id?: string | null; locale?: string | null; time_zone?: string | null; variables?: Record<string, unknown> | null }
    TemplateStatistics: { as_of: string; buckets: (components['schemas']["TemplateStatisticsBucket"])[]; totals: components['schemas']["EmailFigures"] }
    TemplateStatisticsAnswer: { statistics: components['schemas']["TemplateStatistics"] }
    TemplateStatisticsBucket: { figures: components['schemas']["EmailFigures"]; start: string }
    TemplateSummary: { alias: string | null; category: string | null; components: (components['schemas']["UsedComponent"])[]; created_at: string; from: string | null; has_newer_components: boolean; has_unpublished_changes: boolean; id: string; kind: "template" | "layout" | "partial"; locales: (components['schemas']["TemplateLocale"])[]; name: string; published_at: string | null; reply_to: (string)[]; status: "draft" | "published"; subject: string | null; unsubscribe_enabled: boolean; updated_at: string; variables: (components['schemas']["TemplateVariable"])[]; version: number | null }
    TemplateTranslation: { html: string | null; locale: string; subject: string | null; text: string | null }
    TemplateTranslationInput: { html?: string | null; locale: string; subject?: string | null; text?: string | null }
    TemplateVariable: { example: unknown; fallback: unknown; key: string; required: boolean; type: "string" | "number" | "boolean" | "list" | "object" }
    TemplateVariableInput: { example?: unknown; fallback?: unknown; key: string; required?: boolean | null; type: "string" | "number" | "boolean" | "list" | "object" }
    TemplateVersionReference: ("draft") | (number)
    TestEvent: { deliver?: boolean | null; email_id?: string | null; event: "account.rate_exceeded" | "account.usage_reached" | "automation.completed" | "automation.failed" | "automation.started" | "automation.step_completed" | "contact.unsubscribed" | "domain.added" | "domain.claim_started" | "domain.claimed" | "domain.deleted" | "domain.deliverability_degraded" | "domain.dkim_rotated" | "domain.failed" | "domain.lost" | "domain.temporary_failure" | "domain.updated" | "domain.verified" | "email.bounced" | "email.cancelled" | "email.clicked" | "email.complained" | "email.delivered" | "email.delivery_delayed" | "email.failed" | "email.opened" | "email.received" | "email.scheduled" | "email.sent" | "email.suppressed" | "suppression.added" | "suppression.removed" | "webhook.disabled"; webhook_id?: string | null }
    TestEventAnswer: { deliveries: (string)[]; event: components['schemas']["WebhookEvent"] }
    TlsDay: { day: string; failed: number; succeeded: number }
    TlsFailure: { fix: string; policy: "sts" | "tlsa" | "no-policy-found" | "other"; reason: string; sessions: number; type: string }
    TlsReceiver: { failed: number; organization: string; receiver: string; succeeded: number }
    TlsSummary: { days: (components['schemas']["TlsDay"])[]; failed: number; failures: (components['schemas']["TlsFailure"])[]; last_report_at: string | null; receivers: (components['schemas']["TlsReceiver"])[]; reports: number; succeeded: number }
    TrackingCertificate: { error: string | null; expires_at: string | null; status: "not_needed" | "unavailable" | "pending" | "issued" | "failed" }
    TrackingHost: { certificate: components['schemas']["TrackingCertificate"]; created_at: string; host: string; last_checked_at: string | null; record: components['schemas']["TrackingRecord"]; status: "pending" | "verified" | "failed"; verified_at: string | null }
    TrackingHostAnswer: { tracking_host: components['schemas']["TrackingHost"] }
    TrackingRecord: { error: string | null; found: (string)[]; name: string; status: "missing" | "mismatch" | "verified"; type: "CNAME"; value: string }
    TriggerDefinition: { cancel_on_events?: (components['schemas']["CancelRule"])[]; conditions?: string; event: string; re_entry?: (components['schemas']["ReEntry"]) }
    TwilioSettings: { account_sid: string; base_url: string | null; has_auth_token: boolean }
    UnsavedTemplate: { category?: string | null; from?: (components['schemas']["Mailbox"]) | (null); html?: string | null; reply_to?: (components['schemas']["Mailboxes"]) | (null); subject?: string | null; text?: string | null; translations?: (components['schemas']["TemplateTranslationInput"])[] | null; unsubscribe_enabled?: boolean; variables?: (components['schemas']["TemplateVariableInput"])[] }
    UnsubscribePayload: { category: string | null; category_label: string | null; category_opt_out_id: string | null; email: string; email_id: string | null; scope: string; source: string; suppression_id: string | null }
    UpdateAPIKey: { allowed_ips?: (string)[]; name?: string }
    UpdateAccount: { body_retention_days?: number; email?: string; name?: string; record_retention_days?: number; require_second_factor?: boolean }
    UpdateAccountAsOperator: { daily_bytes?: number | null; monthly_limit?: number | null; payment_method?: boolean; plan?: string; production_unlocked?: boolean; stored_bytes?: number | null; suspended?: boolean }
    UpdateAutomation: { description?: string | null; goal?: (components['schemas']["GoalDefinition"]) | (null); name?: string; steps?: (components['schemas']["StepDefinition"])[]; timezone?: string | null; trigger?: (components['schemas']["TriggerDefinition"]) }
    UpdateBilling: { billing_email?: string; monthly_limit?: number | null }
    UpdateDomain: { bimi_certificate_url?: string | null; bimi_logo_url?: string | null; click_tracking?: boolean; ed25519?: boolean; inbound_enabled?: boolean; mta_sts?: "off" | "none" | "testing" | "enforce"; open_tracking?: boolean; tls_mode?: "opportunistic" | "enforced" }
    UpdateEmail: { cancel?: true; scheduled_at?: string }
    UpdateMember: { role: "owner" | "admin" | "developer" | "billing" | "viewer" }
    UpdatePlanAsOperator: { daily_bytes?: number | null; daily_emails?: number | null; daily_sms?: number | null; included_emails?: number | null; max_domains?: number; monthly_emails?: number | null; name?: string; overage?: boolean; rank?: number; requests_per_second?: number; sandboxed?: boolean; self_service?: boolean; stored_bytes?: number | null }
    UpdateTemplate: { alias?: string | null; category?: string | null; from?: (components['schemas']["Mailbox"]) | (null); html?: string | null; name?: string; reply_to?: (components['schemas']["Mailboxes"]) | (null); subject?: string | null; text?: string | null; translations?: (components['schemas']["TemplateTranslationInput"])[] | null; unsubscribe_enabled?: boolean; variables?: (components['schemas']["TemplateVariableInput"])[] }
    UpdateUser: { alerts?: (components['schemas']["AlertsChange"]); email?: string; name?: string | null; password?: (components['schemas']["PasswordChange"]) }
    UpdateUserAsOperator: { disabled?: boolean; operator?: boolean }
    UpdateWebhook: { description?: string | null; enabled?: boolean; events?: ("account.rate_exceeded" | "account.usage_reached" | "automation.completed" | "automation.failed" | "automation.started" | "automation.step_completed" | "contact.unsubscribed" | "domain.added" | "domain.claim_started" | "domain.claimed" | "domain.deleted" | "domain.deliverability_degraded" | "domain.dkim_rotated" | "domain.failed" | "domain.lost" | "domain.temporary_failure" | "domain.updated" | "domain.verified" | "email.bounced" | "email.cancelled" | "email.clicked" | "email.complained" | "email.delivered" | "email.delivery_delayed" | "email.failed" | "email.opened" | "email.received" | "email.scheduled" | "email.sent" | "email.suppressed" | "suppression.added" | "suppression.removed" | "webhook.disabled")[] | null; filter?: (components['schemas']["WebhookFilterInput"]) | (null); headers?: Record<string, string> | null; rate_limit?: number; url?: string }
    UrlAnswer: { url: string }
    UsageAnswer: { total: number; usage: (components['schemas']["UsagePeriod"])[] }
    UsageOfMonth: { emails: number; included: number | null; limit: number | null; over: number }
    UsagePeriod: { emails: number; period: string }
    UsedComponent: { alias: string | null; kind: "layout" | "partial"; latest_version: number | null; name: string | null; template_id: string; version: number }
    UserAnswer: { user: components['schemas']["UserRecord"] }
    UserRecord: { alerts: (components['schemas']["AlertsRecord"]) | (null); created_at: string; email: string; id: string; name: string; operator: boolean; passkeys: number; password: boolean; second_factor: boolean }
    Verdict: { error: string | null; starts: boolean }
    VersionAnswer: { version: components['schemas']["VersionRecord"] }
    VersionComponent: { kind: "layout" | "partial"; template_id: string; version: number }
    VersionList: { has_more: boolean; next_cursor: string | null; versions: (components['schemas']["VersionSummary"])[] }
    VersionRecord: { category: string | null; components: (components['schemas']["VersionComponent"])[]; from: string | null; html: string | null; published_at: string; published_by: string | null; reply_to: (string)[]; subject: string | null; template_id: string; text: string | null; translations: (components['schemas']["TemplateTranslation"])[]; unsubscribe_enabled: boolean; variables: (components['schemas']["TemplateVariable"])[]; version: number }
    VersionSummary: { category: string | null; components: (components['schemas']["VersionComponent"])[]; from: string | null; published_at: string; published_by: string | null; reply_to: (string)[]; subject: string | null; template_id: string; unsubscribe_enabled: boolean; variables: (components['schemas']["TemplateVariable"])[]; version: number }
    WaitForEventStep: { conditions?: string; event: (components['schemas']["StepEvents"]); key?: string; name?: string; next?: (components['schemas']["StepTarget"]); on_event?: (components['schemas']["StepTarget"]); on_timeout?: (components['schemas']["StepTarget"]); since?: string; step?: string; timeout: string; type: "wait_for_event" }
    WaitReason: { code: string; message: string; since: string }
    WaitUntilStep: { at?: string; key?: string; name?: string; next?: (components['schemas']["StepTarget"]); offset?: string; on_past?: (components['schemas']["StepTarget"]); timezone?: string; type: "wait_until"; window?: (components['schemas']["StepWindow"]) }
    WaitingFor: { events: (string)[]; reason: (components['schemas']["WaitReason"]) | (null); since: string | null; step: string; until: string }
    WebhookAnswer: { webhook: components['schemas']["WebhookRecord"] }
    WebhookAttempt: { duration_ms: number | null; error: string | null; finished_at: string | null; number: number; outcome: "delivered" | "failed" | "unknown" | null; remote_addr: string | null; response: string; response_headers: (components['schemas']["Header"])[]; started_at: string; status_code: number | null }
    WebhookDelivery: { attempt_count: number; created_at: string; error: string | null; event_id: string; event_type: string; id: string; next_attempt_at: string | null; replays: number; settled_at: string | null; state: "pending" | "delivered" | "failed"; status_code: number | null; webhook_id: string }
    WebhookDeliveryAnswer: { delivery: components['schemas']["WebhookDeliveryDetail"] }
    WebhookDeliveryDetail: { attempt_count: number; attempts: (components['schemas']["WebhookAttempt"])[]; body: (components['schemas']["WebhookEvent"]) | (null); created_at: string; error: string | null; event_id: string; event_type: string; id: string; next_attempt_at: string | null; replays: number; settled_at: string | null; state: "pending" | "delivered" | "failed"; status_code: number | null; webhook_id: string }
    WebhookDeliveryList: { deliveries: (components['schemas']["WebhookDelivery"])[]; has_more: boolean; next_cursor: string | null }
    WebhookDisabledEvent: { created_at: string; data: components['schemas']["DisabledWebhookPayload"]; mode?: "test"; type: "webhook.disabled" }
    WebhookEvent: (components['schemas']["AccountRateExceededEvent"]) | (components['schemas']["AccountUsageReachedEvent"]) | (components['schemas']["AutomationCompletedEvent"]) | (components['schemas']["AutomationFailedEvent"]) | (components['schemas']["AutomationStartedEvent"]) | (components['schemas']["AutomationStepCompletedEvent"]) | (components['schemas']["ContactUnsubscribedEvent"]) | (components['schemas']["DomainAddedEvent"]) | (components['schemas']["DomainClaimStartedEvent"]) | (components['schemas']["DomainClaimedEvent"]) | (components['schemas']["DomainDeletedEvent"]) | (components['schemas']["DomainDeliverabilityDegradedEvent"]) | (components['schemas']["DomainDkimRotatedEvent"]) | (components['schemas']["DomainFailedEvent"]) | (components['schemas']["DomainLostEvent"]) | (components['schemas']["DomainTemporaryFailureEvent"]) | (components['schemas']["DomainUpdatedEvent"]) | (components['schemas']["DomainVerifiedEvent"]) | (components['schemas']["EmailBouncedEvent"]) | (components['schemas']["EmailCancelledEvent"]) | (components['schemas']["EmailClickedEvent"]) | (components['schemas']["EmailComplainedEvent"]) | (components['schemas']["EmailDeliveredEvent"]) | (components['schemas']["EmailDeliveryDelayedEvent"]) | (components['schemas']["EmailFailedEvent"]) | (components['schemas']["EmailOpenedEvent"]) | (components['schemas']["EmailReceivedEvent"]) | (components['schemas']["EmailScheduledEvent"]) | (components['schemas']["EmailSentEvent"]) | (components['schemas']["EmailSuppressedEvent"]) | (components['schemas']["SuppressionAddedEvent"]) | (components['schemas']["SuppressionRemovedEvent"]) | (components['schemas']["WebhookDisabledEvent"])
    WebhookFilterInput: { automation_ids?: (string)[] | null; domain_ids?: (string)[] | null; tags?: (components['schemas']["WebhookTagFilterInput"])[] | null; template_ids?: (string)[] | null }
    WebhookList: { has_more: boolean; next_cursor: string | null; webhooks: (components['schemas']["WebhookRecord"])[] }
    WebhookRecord: { created_at: string; description: string; disabled_at: string | null; disabled_reason: string | null; enabled: boolean; events: (string)[]; filter: (components['schemas']["EventFilter"]) | (null); headers: Record<string, string>; id: string; mode?: "test"; rate_limit: number | null; updated_at: string; url: string }
    WebhookRecovered: { has_more: boolean; recovered: number }
    WebhookReplayAnswer: { delivery: components['schemas']["WebhookDelivery"] }
    WebhookStep: { body?: unknown; capture?: boolean; headers?: Record<string, string>; key?: string; method?: "POST" | "PUT"; name?: string; next?: (components['schemas']["StepTarget"]); on_error?: (components['schemas']["StepTarget"]); type: "webhook"; url: string }
    WebhookTagFilterInput: { name: string; value?: string | null }
    WholeAnswer: { email: components['schemas']["EmailWhole"] }
  }
}

export interface paths {
  "/account": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AccountAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateAccount"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AccountAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/account/brand": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["BrandAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    put: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["PutAccountBrand"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["BrandAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/accounts": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateAccount"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["MadeAccountAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/api-keys": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ApiKeyList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateAPIKey"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["NewKeyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/api-keys/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["KeyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateAPIKey"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["KeyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/api-keys/{id}/rotate": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["RotateAPIKey"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["NewKeyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/audit-log": {
    get: { parameters: { query?: { limit?: number; cursor?: string; actor?: string; target?: string; action?: string; since?: string; until?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AuditLog"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/audit-log/export": {
    get: { parameters: { query?: { format?: "jsonl" | "csv"; actor?: string; target?: string; action?: string; since?: string; until?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/x-ndjson": string; "text/csv": string } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automation-runs": {
    get: { parameters: { query?: { limit?: number; cursor?: string; status?: "running" | "waiting" | "completed" | "failed" | "cancelled"; user_id?: string; email?: string; step?: string; version?: number; since?: string; until?: string; automation_id?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationRunList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automation-runs/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationRunAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automation-runs/{id}/cancel": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationRunAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automation-runs/{id}/retry": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationRunAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automation-runs/{id}/timeline": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["RunTimelineAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automation-webhook-secret": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["StepSecretAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations": {
    get: { parameters: { query?: { limit?: number; cursor?: string; status?: "draft" | "active" | "paused" | "archived"; event?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateAutomation"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AutomationAction"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ActionAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: { "If-Match"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateAutomation"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/backtest": {
    post: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["BacktestAutomation"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["BacktestAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/check": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationCheckAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/retry-failed": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["RetryFailedRuns"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["RetriedAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/runs": {
    get: { parameters: { query?: { limit?: number; cursor?: string; status?: "running" | "waiting" | "completed" | "failed" | "cancelled"; user_id?: string; email?: string; step?: string; version?: number; since?: string; until?: string }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationRunList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/simulate": {
    post: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SimulateAutomation"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SimulationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/statistics": {
    get: { parameters: { query?: { since?: string; until?: string; interval?: "hour" | "day" | "week" | "month"; timezone?: string; placed_by?: "event" | "start" }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationStatisticsAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/versions": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationVersionsAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/versions/{number}": {
    get: { parameters: { query?: never; path: { id: string; number: number }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationVersionAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/automations/{id}/versions/{number}/diff": {
    get: { parameters: { query?: { against?: string }; path: { id: string; number: number }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AutomationDiffAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["BillingAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateBilling"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["BillingAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/checkout": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CheckOut"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["PageAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/invoices": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["InvoiceList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/payment-method": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AddPaymentMethod"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["PageAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/plan": {
    put: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ChangePlan"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["PlanAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/plan/pending": {
    delete: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["BillingAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/plan/preview": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["PreviewPlan"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["QuoteAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/portal": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["OpenPortal"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["UrlAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/sync": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["BillingAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/billing/usage": {
    get: { parameters: { query?: { since?: string; until?: string; by?: "hour" | "day" | "month" }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["UsageAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/category-opt-outs": {
    get: { parameters: { query?: { limit?: number; cursor?: string; email?: string; category?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OptOutList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/category-opt-outs/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OptOutAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/contacts/{email}/data": {
    delete: { parameters: { query?: { user_id?: string }; path: { email: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ErasedAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DomainList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AddDomain"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DomainAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/claims": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ClaimList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ClaimDomain"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ClaimAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/claims/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ClaimAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/claims/{id}/verify": {
    post: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ClaimVerified"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DomainAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateDomain"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DomainAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/address-rules": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AddressRulesAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    put: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AddressRulesInput"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AddressRulesAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/deliverability": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DeliverabilityAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/dkim/rotate": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DomainAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/dns-provider": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DnsProviderAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/dns-records/apply": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ApplyDNSRecords"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DnsApplied"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/tracking-host": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TrackingHostAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    put: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SetTrackingHost"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TrackingHostAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/tracking-host/verify": {
    post: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TrackingHostAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/verify": {
    post: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DomainAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/domains/{id}/zone-file": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "text/plain": string } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails": {
    get: { parameters: { query?: { limit?: number; cursor?: string; status?: "queued" | "scheduled" | "sent" | "delivered" | "bounced" | "failed" | "cancelled"; to?: string; from?: string; tag?: string; domain?: string; since?: string; until?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EmailList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SendEmail"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EmailReceipt"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/batch": {
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SendBatch"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["BatchAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/check": {
    post: { parameters: { query?: { resolve_links?: boolean }; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SendEmail"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CheckAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/export": {
    get: { parameters: { query?: { format?: "jsonl" | "csv"; status?: "queued" | "scheduled" | "sent" | "delivered" | "bounced" | "failed" | "cancelled"; to?: string; from?: string; tag?: string; domain?: string; since?: string; until?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/x-ndjson": string; "text/csv": string } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/test": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["TestEvent"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TestEventAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["WholeAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateEmail"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EmailAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/{id}/attachments/{index}": {
    get: { parameters: { query?: never; path: { id: string; index: number }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AttachmentLinkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/{id}/attempts": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AttemptList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/{id}/recipients": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["RecipientList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/emails/{id}/resend": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EmailReceipt"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/event-log": {
    get: { parameters: { query?: { after?: string; types?: string; limit?: number }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EventLogPage"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/event-log/stream": {
    get: { parameters: { query?: { after?: string; types?: string }; path?: never; header?: { "Last-Event-ID"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "text/event-stream": string } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/events": {
    get: { parameters: { query?: { limit?: number; cursor?: string; name?: string; user_id?: string; email?: string; source?: "api" | "dashboard" | "system"; since?: string; until?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CustomEventList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Postrider-Cause"?: string; "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CustomEventInput"] } }; responses: { 202: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EventReceipt"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/events/export": {
    get: { parameters: { query?: { format?: "jsonl" | "csv"; name?: string; user_id?: string; email?: string; source?: "api" | "dashboard" | "system"; since?: string; until?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/x-ndjson": string; "text/csv": string } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/events/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CustomEventAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/events/{id}/explanation": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ExplanationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/invitations": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["InvitationsAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateInvitation"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["InvitationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/invitations/accept": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AcceptInvitation"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/invitations/open": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["OpenInvitation"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OfferAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/invitations/{id}": {
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/invitations/{id}/resend": {
    post: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["InvitationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/members": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["MembersAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/members/{id}": {
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateMember"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["MemberAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/accounts": {
    get: { parameters: { query?: { limit?: number; cursor?: string; q?: string; plan?: string; status?: "active" | "suspended" | "payment_due" }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorAccountList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateAccountAsOperator"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CreatedAccountAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/accounts/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorAccountAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateAccountAsOperator"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorAccountAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/audit-log": {
    get: { parameters: { query?: { limit?: number; cursor?: string; actor?: string; target?: string; action?: string; since?: string; until?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AuditLog"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/billing": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorBillingAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/keys": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorKeyList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateOperatorKey"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["NewOperatorKeyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/keys/{id}": {
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorKeyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/plans": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorPlansAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/plans/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorPlanAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdatePlanAsOperator"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorPlanAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/users": {
    get: { parameters: { query?: { limit?: number; cursor?: string; q?: string; operator?: "true" | "false"; disabled?: "true" | "false" }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorUserList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateUserAsOperator"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorUserAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/users/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorUserAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateUserAsOperator"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorUserAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/operator/users/{id}/links": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OperatorUserLinkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/password/forgot": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ForgotPassword"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/password/reset": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ResetPassword"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ResetAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/plans": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["PlansAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/received-emails": {
    get: { parameters: { query?: { limit?: number; cursor?: string; to?: string; from?: string; domain?: string; since?: string; until?: string; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ReceivedList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/received-emails/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ReceivedAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/received-emails/{id}/attachments/{index}": {
    get: { parameters: { query?: never; path: { id: string; index: number }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["AttachmentLinkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/received-emails/{id}/forward": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ForwardReceivedEmail"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EmailReceipt"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/received-emails/{id}/raw": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "message/rfc822": string } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/received-emails/{id}/reply": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ReplyToReceivedEmail"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EmailReceipt"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/requests": {
    get: { parameters: { query?: { limit?: number; cursor?: string; method?: string; path?: string; status_from?: number; status_below?: number; api_key_id?: string; user_id?: string; request_id?: string; email_id?: string; since?: string; until?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["APIRequestList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/requests/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["Answer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/session": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SignIn"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/session/account": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SwitchAccount"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/session/confirm": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ConfirmSession"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/session/link": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SignInByLink"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/session/oidc": {
    get: { parameters: { query?: { return_to?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 302: { headers: Record<string, unknown>; content?: never }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/session/oidc/callback": {
    get: { parameters: { query?: { state?: string; code?: string; error?: string; iss?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 302: { headers: Record<string, unknown>; content?: never }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/session/passkey": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["PasskeyAssertion"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/session/passkey/options": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CeremonyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/sessions": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SessionsAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/sessions/{id}": {
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/setup": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SetUp"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/sign-in": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SignInAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/sign-up": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["SignUp"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/sign-up/complete": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CompleteSignUp"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EnteredAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/sms-messages": {
    get: { parameters: { query?: { limit?: number; cursor?: string; status?: "queued" | "sent" | "delivered" | "failed" | "unknown"; to?: string; automation_id?: string; run_id?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SMSMessageList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/sms-messages/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["MessageAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/sms-settings": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SettingsAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    put: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["PutSMSSettings"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SettingsAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/smtp-credentials": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SmtpCredentialList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateSMTPCredential"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["NewSMTPCredentialAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/smtp-credentials/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SmtpCredentialAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/suppressions": {
    get: { parameters: { query?: { limit?: number; cursor?: string; email?: string; reason?: "bounce" | "failure" | "complaint" | "unsubscribe" | "manual"; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SuppressionList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AddSuppression"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SuppressionAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/suppressions/batch": {
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AddSuppressions"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SuppressionBatch"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/suppressions/batch/delete": {
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["DeleteSuppressions"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DeletedBatch"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/suppressions/export": {
    get: { parameters: { query?: { format?: "jsonl" | "csv"; email?: string; reason?: "bounce" | "failure" | "complaint" | "unsubscribe" | "manual"; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/x-ndjson": string; "text/csv": string } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/suppressions/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["SuppressionAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/template-images": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ImagesAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AddTemplateImage"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ImageAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/template-images/{id}": {
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates": {
    get: { parameters: { query?: { limit?: number; cursor?: string; kind?: "template" | "layout" | "partial"; has_newer_components?: boolean; alias?: string; status?: "draft" | "published"; q?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TemplateList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["AddTemplate"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TemplateAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TemplateAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: { force?: boolean }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: { force?: boolean }; path: { id: string }; header?: { "If-Match"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateTemplate"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TemplateAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/duplicate": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TemplateAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/edits": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TemplateEditList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/edits/{edit}": {
    get: { parameters: { query?: never; path: { id: string; edit: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["EditAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/edits/{edit}/restore": {
    post: { parameters: { query?: never; path: { id: string; edit: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TemplateAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/publish": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["PublicationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/render": {
    post: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["RenderTemplate"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["RenderedAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/rollback": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["RollbackTemplate"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["PublicationAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/statistics": {
    get: { parameters: { query?: { since?: string; until?: string; interval?: "hour" | "day" | "week" | "month"; timezone?: string; placed_by?: "event" | "start" }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["TemplateStatisticsAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/strings": {
    get: { parameters: { query?: { locale?: string; source_locale?: string }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/xliff+xml": string } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ImportTemplateStrings"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["ImportedAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/versions": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["VersionList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/templates/{id}/versions/{version}": {
    get: { parameters: { query?: never; path: { id: string; version: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["VersionAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/test/inbox": {
    get: { parameters: { query?: { limit?: number; cursor?: string; to?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CapturedEmailList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/test/inbox/latest": {
    get: { parameters: { query?: { to?: string; subject?: string; wait?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CapturedAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/test/inbox/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CapturedAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user": {
    patch: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateUser"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["UserAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user/email": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ConfirmEmail"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["UserAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user/email/stop": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["StopEmailChange"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user/oidc": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["DepartureAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user/passkeys": {
    get: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["PasskeysAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["NewPasskey"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["PasskeyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user/passkeys/options": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["CeremonyAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user/passkeys/{id}": {
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user/totp": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["FactorAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/user/totp/activate": {
    post: { parameters: { query?: never; path?: never; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["ActivateTOTP"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["RecoveryAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/webhook-deliveries/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["WebhookDeliveryAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/webhook-deliveries/{id}/replay": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["WebhookReplayAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/webhooks": {
    get: { parameters: { query?: { limit?: number; cursor?: string }; path?: never; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["WebhookList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    post: { parameters: { query?: never; path?: never; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["CreateWebhook"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["NewWebhookAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/webhooks/{id}": {
    get: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["WebhookAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    delete: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["OkAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
    patch: { parameters: { query?: never; path: { id: string }; header?: never; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["UpdateWebhook"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["WebhookAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/webhooks/{id}/deliveries": {
    get: { parameters: { query?: { limit?: number; cursor?: string; state?: "pending" | "delivered" | "failed" }; path: { id: string }; header?: never; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["WebhookDeliveryList"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/webhooks/{id}/recover": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody: { content: { "application/json": components['schemas']["RecoverWebhook"] } }; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["WebhookRecovered"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
  "/webhooks/{id}/rotate-secret": {
    post: { parameters: { query?: never; path: { id: string }; header?: { "Idempotency-Key"?: string }; cookie?: never }; requestBody?: never; responses: { 200: { headers: Record<string, unknown>; content: { "application/json": components['schemas']["NewWebhookAnswer"] } }; default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } } } }
  }
}
