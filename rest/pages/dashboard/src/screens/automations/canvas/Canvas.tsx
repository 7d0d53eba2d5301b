import { Background, Panel, ReactFlow, ReactFlowProvider, useReactFlow, type NodeChange } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import './canvas.css'
import { Maximize, Minus, Plus } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useScene } from '../scene'
import { flowOf, type FlowNode } from './flow'
import { EndNode, StepNode, WayEdge } from './parts'

const nodeTypes = { step: StepNode, end: EndNode }
const edgeTypes = { way: WayEdge }
const words = { 'node.a11yDescription.default': 'Enter opens the step’s settings. Move, add or delete steps in the outline.' }

// Canvas draws the automation. It is for viewing and pointing; all its actions are available in the outline.
export default function Canvas(props: { label: string; whole?: boolean }) {
  return <ReactFlowProvider><Drawing {...props} /></ReactFlowProvider>
}

function Drawing({ label, whole }: { label: string; whole?: boolean }) {
  const scene = useScene()
  const flow = useReactFlow()
  const { steps, trigger, figures, troubles, marks, taken, selected, select } = scene
  const { nodes, edges, width, height } = useMemo(() => flowOf(scene), [steps, trigger, figures, troubles, marks, taken, selected])
  const change = useCallback((changes: NodeChange<FlowNode>[]) => {
    for (const c of changes) if (c.type === 'select' && c.selected) select(c.id)
  }, [select])
  const box = useRef<HTMLDivElement>(null)
  // The top is shown first, at a readable size. A run is shown completely, or else at its current step.
  const last = [...marks.keys()].at(-1)
  const show = useCallback(() => {
    const { clientWidth: w = 0, clientHeight: h = 0 } = box.current ?? {}
    if (w === 0) return
    const zoom = Math.min(1, Math.max(0.5, Math.min((w - 48) / Math.max(1, width), whole ? (h - 40) / Math.max(1, height) : 1)))
    const at = nodes.find((n) => n.id === last)
    const hidden = whole && at && height * zoom > h ? Math.max(0, Math.min(height * zoom - h + 40, at.position.y * zoom - h * 0.6)) : 0
    void flow.setViewport({ x: (w - width * zoom) / 2, y: (hidden > 0 ? 20 : 24) - hidden, zoom })
  }, [flow, width, height, whole, last])
  const shown = useRef(false)
  useEffect(() => {
    const watch = new ResizeObserver(() => show())
    if (box.current) watch.observe(box.current)
    return () => watch.disconnect()
  }, [show])
  // The step selected in the outline scrolls into view.
  useEffect(() => {
    if (!shown.current) { shown.current = true; return }
    const node = nodes.find((n) => n.id === selected)
    const { clientWidth: w = 0, clientHeight: h = 0 } = box.current ?? {}
    if (!node || w === 0) return
    const { x, y, zoom } = flow.getViewport()
    const [left, top] = [node.position.x * zoom + x, node.position.y * zoom + y]
    const [right, bottom] = [left + (node.width ?? 0) * zoom, top + (node.height ?? 0) * zoom]
    if (left < 0 || top < 0 || right > w || bottom > h) void flow.setCenter(node.position.x + (node.width ?? 0) / 2, node.position.y + (node.height ?? 0) / 2, { zoom })
  }, [selected])
  return (
    <div ref={box} className="size-full min-h-0 bg-canvas">
      <ReactFlow aria-label={label}
        nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} onNodesChange={change} nodesDraggable={false} nodesConnectable={false} edgesFocusable={false}
        deleteKeyCode={null} selectionKeyCode={null} multiSelectionKeyCode={null} panOnScroll zoomOnDoubleClick={false} minZoom={0.2} maxZoom={1.5} ariaLabelConfig={words} proOptions={{ hideAttribution: true }}
      >
        <Background gap={20} size={1} />
        <Panel position="bottom-right" className="flex gap-1">
          <button type="button" className="btn sm square" aria-label="Zoom out" title="Zoom out" onClick={() => void flow.zoomOut()}><Minus aria-hidden /></button>
          <button type="button" className="btn sm square" aria-label="Zoom in" title="Zoom in" onClick={() => void flow.zoomIn()}><Plus aria-hidden /></button>
          <button type="button" className="btn sm square" aria-label="Fit to view" title="Fit to view" onClick={() => void flow.fitView({ maxZoom: 1, padding: 0.08 })}><Maximize aria-hidden /></button>
        </Panel>
      </ReactFlow>
    </div>
  )
}
