// stepKinds lists the step types of automations from the REST API. A type without a file in
// src/screens/automations/steps fails the type check.
export function stepKinds(api) {
  const schemas = api.components.schemas
  const types = Object.entries(schemas.StepDefinition.discriminator.mapping).sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, ref]) => {
    const { properties, required } = schemas[ref.split('/').at(-1)]
    return { type, name: type.replace(/_(.)/g, (_, c) => c.toUpperCase()), required: required.filter((f) => f !== 'type' && properties[f].type !== 'array') }
  })
  return `import type { StepKind } from './kind'
${types.map((t) => `import ${t.name} from './${t.name}'`).join('\n')}

export const stepKinds = { ${types.map((t) => (t.type === t.name ? t.name : `${t.type}: ${t.name}`)).join(', ')} } satisfies Record<string, StepKind>

// requiredFields are the fields of each type that must not be empty. Lists have their own rules.
export const requiredFields: Partial<Record<string, string[]>> = { ${types.map((t) => `${t.type}: [${t.required.map((f) => `'${f}'`).join(', ')}]`).join(', ')} }
`
}
