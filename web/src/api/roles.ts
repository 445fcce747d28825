import type { Role } from './types';

const order: Role[] = ['viewer', 'reviewer', 'operator', 'admin'];

/** Each role may do what those before it may. */
export function atLeast(role: Role | undefined, least: Role): boolean {
  return role !== undefined && order.indexOf(role) >= order.indexOf(least);
}
