// How the build is cut into files. The first page names every file there is, so few are better, and what
// is not needed for it must not be in it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

// withoutScrolling leaves out the router's scroll restoration, which is switched off here: our lists
// scroll in a box of their own.
export const withoutScrolling: Plugin = {
  name: 'without-scroll-restoration',
  enforce: 'pre',
  resolveId: (id, importer) => (/\/scroll-restoration(\.js|-script)$/.test(id) && importer?.includes('@tanstack') ? '\0no-scroll-restoration' : null),
  load: (id) => (id === '\0no-scroll-restoration' ? 'const none = () => null; export { none as ScrollRestoration, none as setupScrollRestoration, none as getElementScrollRestorationEntry, none as defaultGetScrollRestorationKey, none as getScrollRestorationScriptForRouter }; export const storageKey = ""' : null),
}

// iconsByFile imports each icon from its own file: the package's index names 1,700.
export function iconsByFile(): Plugin {
  const index = readFileSync(createRequire(import.meta.url).resolve('lucide-react/package.json').replace('package.json', 'dist/esm/lucide-react.mjs'), 'utf8')
  const files = new Map<string, string>()
  for (const [, names = '', file = ''] of index.matchAll(/export \{ ([^}]*) \} from '\.\/icons\/([^']+)\.mjs'/g)) {
    for (const [, name = ''] of names.matchAll(/default as (\w+)/g)) files.set(name, file)
  }
  return {
    name: 'icons-by-file',
    enforce: 'pre',
    apply: 'build',
    transform(code, id) {
      if (!/\/src\/.*\.tsx?$/.test(id)) return null
      return code.replace(/import \{([^}]*)\} from 'lucide-react'/g, (_, names: string) =>
        names.split(',').map((n) => n.trim()).filter((n) => n && !n.startsWith('type ')).map((n) => {
          const [name = '', as = name] = n.split(/\s+as\s+/)
          const file = files.get(name)
          if (!file) throw new Error(`${id}: lucide-react has no icon ${name}`)
          return `import ${as} from 'lucide-react/dist/esm/icons/${file}.mjs'`
        }).join(';'))
    },
  }
}

interface Graph {
  getModuleInfo(id: string): { importedIds: string[]; dynamicallyImportedIds: string[]; importers: string[] } | null
}

// reach collects what a module needs, and with `later` also what is behind import().
function reach(graph: Graph, id: string, later: boolean, found: Set<string>, but?: Set<string>) {
  if (found.has(id) || but?.has(id)) return found
  found.add(id)
  const info = graph.getModuleInfo(id)
  for (const next of [...(info?.importedIds ?? []), ...(later ? (info?.dynamicallyImportedIds ?? []) : [])]) reach(graph, next, later, found, but)
  return found
}

// What of the first page is not ours, with our stand-ins for parts of it: `base` must import nothing of
// `first`, which imports it.
const vendor = /node_modules\/(react|react-dom|scheduler|@tanstack)\/|no-scroll-restoration|api\/selector|vite\/preload-helper|^\0/

const common = /\/src\/(parts|app|api)\/|\/src\/screens\/\w+\/(status|look)|lucide-react|openapi-fetch|radix-ui|react-virtual|react-query/

const source = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

let first: Set<string> | undefined
let shared: Set<string> | undefined
let list: Set<string> | undefined

// chunkOf puts together what is loaded together: `base`, which an upgrade seldom changes, `first`, the
// rest of the first page, `list`, what every list needs, and `shared`, what else screens have in common, with all that
// it needs.
export function chunkOf(id: string, graph: Graph): string | null {
  if (/\.css$|index\.html$|src\/main\.tsx$/.test(id)) return null
  if (!first || !shared || !list) {
    const entry = source('index.html')
    first = reach(graph, entry, false, new Set())
    shared = new Set()
    for (const one of reach(graph, entry, true, new Set())) {
      if (common.test(one) && (graph.getModuleInfo(one)?.importers.length ?? 0) > 1) reach(graph, one, false, shared, first)
    }
    const several = shared
    list = new Set([...reach(graph, source('src/screens/emails/List.tsx'), false, new Set(), first)].filter((one) => several.has(one)))
    reach(graph, source('src/app/Queries.tsx'), false, list, first)
  }
  if (first.has(id)) return vendor.test(id) ? 'base' : 'first'
  if (list.has(id)) return 'list'
  return shared.has(id) ? 'shared' : null
}
