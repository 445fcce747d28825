/** A held key does again what only moves: a held "accept" would go through all that there is. */
export const counts = (event: { repeat: boolean }, key: { moves?: boolean } | undefined): boolean => !event.repeat || key?.moves === true;
