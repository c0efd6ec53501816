/** Turns what a part draws into nodes of Vue. */
import type { PartChild, PartNode } from 'authkernel/parts'
import { h, type VNode } from 'vue'

const events = {
  click: 'onClick',
  submit: 'onSubmit',
  change: 'onChange',
  input: 'onInput',
  close: 'onClose',
  keydown: 'onKeydown',
} as const

/** Draws an element with all that is in it. */
export function drawNode({ key, tag, attributes, on, children }: PartNode): VNode {
  const properties: Record<string, unknown> = { key }
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || (value === false && !name.startsWith('aria-'))) continue
    // As an attribute the value is what a field begins with: what was typed stays.
    properties[name === 'value' ? '^value' : name] = value === true && !name.startsWith('aria-') ? '' : value
  }
  for (const [name, handler] of Object.entries(on)) properties[events[name as keyof typeof events]] = handler
  return h(tag, properties, children.map(drawChild))
}

function drawChild(child: PartChild): VNode | string {
  return typeof child === 'string' ? child : drawNode(child)
}
