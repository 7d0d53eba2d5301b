import { useMemo } from 'react'
import { useGraphQL } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { AutomationEventNames, AutomationSamples, AutomationSenders, AutomationTemplates, type AutomationSamplesQuery, type AutomationTemplatesQuery } from './automations.gen'
import type { Doc } from './model/merge'
import { pathsIn } from './model/hints'

export type TemplateHint = AutomationTemplatesQuery['templates']['nodes'][number]
export type Sample = AutomationSamplesQuery['customEvents']['nodes'][number]

export interface Hints {
  // paths are the fields of the starting event that texts and conditions can use.
  paths: string[]
  events: string[]
  senders: string[]
  templates: TemplateHint[] | undefined
  samples: Sample[]
}

const own = ['$email.delivered', '$email.opened', '$email.clicked', '$email.bounced', '$email.received', '$contact.unsubscribed']

// useHints suggests values from the account: received events, their data, templates, senders.
export function useHints(doc: Doc | null, enabled: boolean): Hints {
  const { development } = useViewer()
  const event = typeof doc?.trigger.event === 'string' ? doc.trigger.event : ''
  const templates = useGraphQL(AutomationTemplates, {}, { enabled })
  const senders = useGraphQL(AutomationSenders, {}, { enabled })
  const names = useGraphQL(AutomationEventNames, {}, { enabled })
  const samples = useGraphQL(AutomationSamples, { name: event }, { enabled: enabled && event !== '' && !event.startsWith('$') })
  return useMemo(() => {
    const nodes = samples.data?.customEvents.nodes ?? []
    const domains = (senders.data?.domains.nodes ?? []).filter((d) => d.status === 'VERIFIED' || d.status === 'TEMPORARY_FAILURE').map((d) => d.name)
    if (development?.domain && !domains.includes(development.domain)) domains.push(development.domain)
    return {
      paths: pathsIn(nodes.map((n) => n.data), doc), templates: templates.data?.templates.nodes, samples: nodes, senders: domains.map((d) => `hello@${d}`),
      events: [...new Set([...(names.data?.customEvents.nodes ?? []).map((n) => n.name), ...own])],
    }
  }, [samples.data, senders.data, names.data, templates.data, doc, development])
}
