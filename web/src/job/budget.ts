/** What is offered to one whose budget is spent: twice as much. */
export const raised = (nano_usd: number): number => nano_usd * 2;

/** An amount as it was typed, for the server; nothing when it is none. */
export function budgetOf(text: string): string | undefined {
  const usd = text.trim().replace(/^\$/, '').replace(',', '.');
  return /^\d{1,7}(\.\d{1,9})?$/.test(usd) && Number(usd) > 0 ? usd : undefined;
}
