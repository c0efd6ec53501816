/** Turns what a part draws into elements of Solid: the nodes are kept in a store, so that only what changed is written. */
import type { PartChild, PartEvent, PartEventName, PartNode } from 'authkernel/parts'
import { createComponent, createRenderEffect, For, type JSX } from 'solid-js'
import { insert } from 'solid-js/web'

const events: readonly PartEventName[] = ['click', 'submit', 'change', 'input', 'close', 'keydown']
const shapes = ['svg', 'rect', 'path']

/** Makes an element with all that is in it; `node` is read again when it changes. */
export function NodeView(props: { readonly node: PartNode }): JSX.Element {
  const { tag } = props.node
  const element = shapes.includes(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag)
  createRenderEffect((former: readonly string[]) => {
    const given = Object.entries(props.node.attributes).filter(
      ([name, value]) => value !== undefined && (value !== false || name.startsWith('aria-')),
    )
    for (const [name, value] of given) {
      const text = value === true && !name.startsWith('aria-') ? '' : String(value)
      if (element.getAttribute(name) !== text) element.setAttribute(name, text)
    }
    const names = given.map(([name]) => name)
    for (const name of former) if (!names.includes(name)) element.removeAttribute(name)
    return names
  }, [])
  // The handlers of a node are new at each drawing.
  for (const name of events) element.addEventListener(name, (event) => props.node.on[name]?.(event as PartEvent))
  insert(
    element,
    For<readonly PartChild[], JSX.Element>({
      get each() {
        return props.node.children
      },
      children: (child) => (typeof child === 'string' ? child : createComponent(NodeView, { node: child })),
    }),
  )
  return element
}
