import { useMemo } from 'react'
import { useGraphQL } from '@/api/graphql'
import type { Names } from '@/screens/code/Code'
import { blocksOf, layoutOf } from '@/screens/code/templateTags'
import type { Template } from './draft'
import { TemplateComponents } from './templates.gen'
import { useTemplate } from './useEditor'

// useNames returns the layouts and partials that a text can use, and the blocks of its layout.
export function useNames(template: Template, text: string): Names {
  const found = useGraphQL(TemplateComponents, {}).data
  const alias = layoutOf(text)
  const layoutId = found?.layouts.nodes.find((t) => t.alias === alias)?.id ?? ''
  const layout = useTemplate(layoutId, layoutId !== '' && layoutId !== template.id).data
  return useMemo(() => {
    const others = (list: { id: string; alias: string | null }[] = []) => list.flatMap((t) => (t.alias && t.id !== template.id ? [t.alias] : []))
    return { layouts: others(found?.layouts.nodes), partials: others(found?.partials.nodes), blocks: [...new Set([...blocksOf(`${layout?.html ?? ''}${layout?.text ?? ''}`), ...blocksOf(text)])] }
  }, [found, layout, text, template.id])
}
