#include "kolmo/runtime/memory/chunk_heap.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace kolmo::memory {

ChunkHeap::~ChunkHeap() {
  for (Chunk* chunk : chunks_) {
    for (Span* s = chunk->first; s;) delete std::exchange(s, s->next);
    delete chunk;
  }
}

void ChunkHeap::insert(Span* span) {
  free_.insert(span);
  span->free = true;
  free_bytes_ += span->bytes;
}

void ChunkHeap::erase(Span* span) {
  free_.erase(span);
  span->free = false;
  free_bytes_ -= span->bytes;
}

Span* ChunkHeap::take(Span* span, std::size_t bytes) {
  std::unique_ptr<Span> rest;
  if (span->bytes > bytes)
    rest.reset(
        new Span{span->chunk, span->data + bytes, span->bytes - bytes, true, span, span->next, span->stamps});
  auto node = free_.extract(span);
  span->free = false, span->bytes = bytes;
  span->stamps.clear();
  free_bytes_ -= bytes;
  if (rest) {
    if (rest->next) rest->next->previous = rest.get();
    node.value() = span->next = rest.release();
    free_.insert(std::move(node));
  }
  return span;
}

Span* ChunkHeap::join(Span* left, Span* right) {
  merge(left->stamps, right->stamps);
  left->bytes += right->bytes;
  left->next = right->next;
  if (left->next) left->next->previous = left;
  delete right;
  return left;
}

void ChunkHeap::give(Span* span, const Stamps& stamps) {
  span->stamps = stamps;
  if (Span* next = span->next; next && next->free) {
    erase(next);
    span = join(span, next);
  }
  if (Span* previous = span->previous; previous && previous->free) {
    erase(previous);
    span = join(previous, span);
  }
  insert(span);
}

Span* ChunkHeap::add(void* data, std::size_t bytes, Stamps stamps) {
  auto chunk = std::make_unique<Chunk>(Chunk{static_cast<char*>(data), bytes, nullptr});
  auto span = std::make_unique<Span>();
  *span = {chunk.get(), chunk->data, bytes, false, nullptr, nullptr, std::move(stamps)};
  chunk->first = span.get();
  chunks_.reserve(chunks_.size() + 1);
  insert(span.get());
  chunks_.push_back(chunk.release());
  reserved_ += bytes;
  return span.release();
}

void ChunkHeap::remove(Span* span) {
  erase(span);
  reserved_ -= span->bytes;
  chunks_.erase(std::find(chunks_.begin(), chunks_.end(), span->chunk));
  delete span->chunk;
  delete span;
}

std::vector<Span*> ChunkHeap::whole_chunks() const {
  std::vector<Span*> all;
  for (const Chunk* c : chunks_)
    if (c->first->free && whole(*c->first)) all.push_back(c->first);
  return all;
}

}  // namespace kolmo::memory
