import { json } from '@sveltejs/kit'
import { requireSession } from '../../auth'

export const GET = async (event) => json(await requireSession(event))
