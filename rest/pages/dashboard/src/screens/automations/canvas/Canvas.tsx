import { Background, Panel, ReactFlow, ReactFlowProvider, useReactFlow, useViewport, type NodeChange } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import './canvas.css'
import { Maximize, Minus, MoveHorizontal, Plus } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useScene } from '../scene'
import { flowOf, type FlowNode } from './flow'
import { EndNode, StepNode, WayEdge } from './parts'

const nodeTypes = { step: StepNode, end: EndNode }
const edgeTypes = { way: WayEdge }
const words = { 'node.a11yDescription.default': 'Enter opens the step’s settings. Move, add or delete steps in the outline.' }

// readable is the smallest scale at which the drawing is first shown: its text stays 10 pixels high.
const readable = 0.8

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
    const zoom = Math.min(1, Math.max(readable, Math.min((w - 48) / Math.max(1, width), whole ? (h - 40) / Math.max(1, height) : 1)))
    const at = nodes.find((n) => n.id === last)
    const hidden = whole && at && height * zoom > h ? Math.max(0, Math.min(height * zoom - h + 40, at.position.y * zoom - h * 0.6)) : 0
    // A drawing that is wider than its place begins with the step that matters, in the middle.
    const center = nodes.find((n) => n.id === (whole && at ? at.id : 'trigger'))
    const left = width * zoom <= w || !center ? (w - width * zoom) / 2 : Math.min(24, Math.max(w - width * zoom - 24, w / 2 - (center.position.x + (center.width ?? 0) / 2) * zoom))
    void flow.setViewport({ x: left, y: (hidden > 0 ? 20 : 24) - hidden, zoom })
  }, [flow, width, height, whole, last])
  // fitWidth shows the whole width of the drawing.
  const fitWidth = useCallback(() => {
    const { clientWidth: w = 0 } = box.current ?? {}
    if (w === 0) return
    const { y, zoom } = flow.getViewport()
    const next = Math.min(1, (w - 32) / Math.max(1, width))
    void flow.setViewport({ x: (w - width * next) / 2, y: Math.min(24, (y * next) / zoom), zoom: next })
  }, [flow, width])
  const actualSize = useCallback(() => void flow.zoomTo(1), [flow])
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
          <ZoomButton reset={actualSize} />
          <button type="button" className="btn sm square" aria-label="Fit to width" title="Fit to width" onClick={fitWidth}><MoveHorizontal aria-hidden /></button>
          <button type="button" className="btn sm square" aria-label="Fit to view" title="Fit to view" onClick={() => void flow.fitView({ maxZoom: 1, padding: 0.08 })}><Maximize aria-hidden /></button>
        </Panel>
      </ReactFlow>
    </div>
  )
}

// ZoomButton shows the scale, and returns to 100 %.
function ZoomButton({ reset }: { reset: () => void }) {
  const { zoom } = useViewport()
  const percent = `${Math.round(zoom * 100)} %`
  return <button type="button" className="btn sm tabular-nums" aria-label={`Zoom ${percent}. Show at 100 %`} title="Show at 100 %" onClick={reset}>{percent}</button>
}
