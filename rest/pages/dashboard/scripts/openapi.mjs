// restTypes writes the types that openapi-fetch wants of an OpenAPI 3.1 document: `paths`, with the
// schemas as `components`. Only what the document of this project uses is understood.
export function restTypes(doc) {
  const ref = (r) => `components['schemas'][${JSON.stringify(r.split('/').pop())}]`
  const key = (k) => (/^[A-Za-z_]\w*$/.test(k) ? k : JSON.stringify(k))

  function type(s) {
    if (s === undefined || s === true) return 'unknown'
    if (s.$ref) return ref(s.$ref)
    if (s.const !== undefined) return JSON.stringify(s.const)
    if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(' | ')
    const many = s.oneOf ?? s.anyOf
    if (many) return [...new Set(many.map(type))].map((t) => `(${t})`).join(' | ')
    if (s.allOf) return s.allOf.map(type).map((t) => `(${t})`).join(' & ')
    if (Array.isArray(s.type)) return [...new Set(s.type.map((t) => type({ ...s, type: t })))].join(' | ')
    switch (s.type) {
      case 'string': return 'string'
      case 'integer': case 'number': return 'number'
      case 'boolean': return 'boolean'
      case 'null': return 'null'
      case 'array': return `(${type(s.items)})[]`
    }
    if (s.type === 'object' || s.properties) return object(s)
    return 'unknown'
  }

  function object(s) {
    const required = new Set(s.required ?? [])
    const fields = Object.entries(s.properties ?? {}).map(([k, v]) => `${key(k)}${required.has(k) ? '' : '?'}: ${type(v)}`)
    const more = s.additionalProperties
    if (fields.length === 0) return more === false ? 'Record<string, never>' : `Record<string, ${type(more || undefined)}>`
    return `{ ${fields.join('; ')} }`
  }

  const resolve = (x, kind) => (x.$ref ? doc.components[kind][x.$ref.split('/').pop()] : x)

  function parameters(list) {
    const by = { query: [], path: [], header: [] }
    for (const p of list.map((p) => resolve(p, 'parameters'))) by[p.in]?.push(`${key(p.name)}${p.required ? '' : '?'}: ${type(p.schema)}`)
    const parts = Object.entries(by).map(([place, fields]) => {
      if (fields.length === 0) return `${place}?: never`
      return `${place}${fields.some((f) => !/^("[^"]*"|\w+)\?:/.test(f)) ? '' : '?'}: { ${fields.join('; ')} }`
    })
    return `{ ${parts.join('; ')}; cookie?: never }`
  }

  function content(c) {
    return `{ ${Object.entries(c ?? {}).map(([media, v]) => `${JSON.stringify(media)}: ${type(v.schema)}`).join('; ') || '[media: string]: never'} }`
  }

  function operation(o, shared) {
    const body = o.requestBody && resolve(o.requestBody, 'requestBodies')
    const answers = Object.entries(o.responses).filter(([code]) => code < '400').map(([code, r]) => {
      const { content: c } = resolve(r, 'responses')
      return `${code}: { headers: Record<string, unknown>; content${c ? `: ${content(c)}` : '?: never'} }`
    })
    answers.push(`default: { headers: Record<string, unknown>; content: { "application/json": components['schemas']['Error'] } }`)
    return `{ parameters: ${parameters([...shared, ...(o.parameters ?? [])])}; requestBody${body ? `${body.required ? '' : '?'}: { content: ${content(body.content)} }` : '?: never'}; responses: { ${answers.join('; ')} } }`
  }

  const methods = ['get', 'put', 'post', 'delete', 'patch']
  let out = '\nexport interface components {\n  schemas: {\n'
  for (const [name, s] of Object.entries(doc.components.schemas)) out += `    ${key(name)}: ${type(s)}\n`
  out += '  }\n}\n\nexport interface paths {\n'
  for (const [path, item] of Object.entries(doc.paths)) {
    out += `  ${JSON.stringify(path)}: {\n`
    for (const m of methods) if (item[m]) out += `    ${m}: ${operation(item[m], item.parameters ?? [])}\n`
    out += '  }\n'
  }
  return `${out}}\n`
}
