import { limits, tooLong } from './limits';

export function TooLong({ text, limit }: { text: string; limit: keyof typeof limits }) {
  const words = tooLong(text, limit);
  return words ? (
    <p className="wrong" role="alert">
      {words}
    </p>
  ) : null;
}
